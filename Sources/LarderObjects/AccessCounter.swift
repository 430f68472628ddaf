// SPDX-License-Identifier: Apache-2.0

/// The number of users of discardable content. Guard: the lock of the object that has it.
struct AccessCounter {
  private(set) var users = 1
  private(set) var isDiscarded = false

  var mayDiscard: Bool { users == 0 && !isDiscarded }

  /// Counts one more user if the content is there.
  mutating func begin() -> Bool {
    guard !isDiscarded else { return false }
    users += 1
    return true
  }

  /// Counts one user less. A call too many is the caller's mistake: an error in debug builds,
  /// ignored in others.
  ///
  /// - Returns: Whether that was the last user.
  mutating func end() -> Bool {
    assert(users > 0, "endContentAccess() without beginContentAccess()")
    guard users > 0 else { return false }
    users -= 1
    return users == 0
  }

  mutating func discard() { isDiscarded = true }
}
