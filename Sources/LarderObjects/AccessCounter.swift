// SPDX-License-Identifier: Apache-2.0

/// The number of users of discardable content. Guard: the lock of the object that has it.
struct AccessCounter {
  private(set) var users = 1
  /// Those that no call of users can end.
  private(set) var loans = 0
  private(set) var isDiscarded = false

  private var isIdle: Bool { users == 0 && loans == 0 }
  var mayDiscard: Bool { isIdle && !isDiscarded }

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
    return isIdle
  }

  /// Counts one more loan if the content is there.
  mutating func beginLoan() -> Bool {
    guard !isDiscarded else { return false }
    loans += 1
    return true
  }

  /// Counts one loan less. Returns whether nobody uses the content any more.
  mutating func endLoan() -> Bool {
    loans -= 1
    return isIdle
  }

  mutating func discard() { isDiscarded = true }
}
