// SPDX-License-Identifier: Apache-2.0

/// The count of users of discardable content. Guard: the lock of the object that has it.
struct AccessCounter {
  private(set) var users = 1
  private(set) var isDiscarded = false

  var mayDiscard: Bool { users == 0 && !isDiscarded }

  /// Counts a user in, if the content is there.
  mutating func begin() -> Bool {
    guard !isDiscarded else { return false }
    users += 1
    return true
  }

  /// Counts a user out. One too many is a mistake of the caller: an error in debug builds, ignored
  /// in others.
  ///
  /// - Returns: Whether it was the last one.
  mutating func end() -> Bool {
    assert(users > 0, "endContentAccess() without beginContentAccess()")
    guard users > 0 else { return false }
    users -= 1
    return users == 0
  }

  mutating func discard() { isDiscarded = true }
}
