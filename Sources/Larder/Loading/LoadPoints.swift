// SPDX-License-Identifier: Apache-2.0

/// The places where those who load and write one key can meet. A test stops there and lets the
/// others go first, in every order. Release builds have none.
package enum LoadPoints {
  #if DEBUG
    /// Called at each place, with a condition for going on. `nil` outside of that test.
    @TaskLocal package static var stop: (@Sendable (_ isReady: () -> Bool) -> Void)?
    /// Called for each look at whether a load is needed, maybe under a lock. It may count.
    @TaskLocal package static var seen: (@Sendable () -> Void)?
  #endif

  /// Stops here if a test wants it. What follows the place makes `isReady` true first.
  @inline(__always)
  static func reach(when isReady: () -> Bool = { true }) {
    #if DEBUG
      stop?(isReady)
    #endif
  }

  /// Tells a test of a look at one load.
  @inline(__always)
  static func see() {
    #if DEBUG
      seen?()
    #endif
  }
}
