// SPDX-License-Identifier: Apache-2.0
import CLarder

/// What a cache takes the time from.
public struct CacheClock: Sendable {
  /// `nil` for the system's.
  let manualClock: ManualClock?

  /// The system's clock that never jumps and goes on while the machine sleeps: `CLOCK_BOOTTIME`,
  /// on Apple's systems `mach_continuous_time`.
  public static let continuous = CacheClock(manualClock: nil)

  /// A clock that stands still until it is told to advance, for tests.
  public static func manual(_ clock: ManualClock) -> CacheClock { CacheClock(manualClock: clock) }
}

/// A clock that stands still until it is told to advance. It makes tests of what expires quick and
/// repeatable.
///
///     let clock = ManualClock()
///     let tokens = Cache<ID, Token>(
///       expiration: .afterWrite(.seconds(60)), options: .init(clock: .manual(clock)))
///     tokens[id] = token
///     clock.advance(by: .seconds(60))
///     #expect(tokens[id] == nil)
///
/// Caches count in ticks of 4,096 ns, with this clock, too: a lifetime below one tick is taken for
/// one, so it ends late by less than that.
///
/// Several caches can share one. **Threads.** Any thread may advance the clock at any time. Calls
/// that begin after ``advance(by:file:line:)`` has returned see the new time.
public final class ManualClock: @unchecked Sendable {
  // Sendable: the core's clock is an atomic number, and the pointer to it constant.
  let core: UnsafeMutablePointer<lrd_manual_clock>

  /// Creates a clock. What it shows at first does not matter to any cache.
  public init() {
    guard let core = lrd_manual_clock_create() else {
      stop("no memory for a clock", file: #fileID, line: #line)
    }
    self.core = core
  }

  deinit { lrd_manual_clock_release(core) }

  /// Moves the clock forward. Removes nothing by itself: what has expired is found no more, and
  /// leaves with later writes or by ``Cache/removeExpired()``. The background thread, which would
  /// make a test depend on the moment at which it comes by, leaves it alone.
  ///
  /// - Parameters:
  ///   - time: How far. Must not be negative. The clock stops at the end of its range, after more
  ///     than a century; from then on nothing expires any more.
  ///   - file: The file of the call, for the message of a trap.
  ///   - line: The line of the call, for the message of a trap.
  /// - Complexity: O(1).
  public func advance(by time: Duration, file: StaticString = #fileID, line: UInt = #line) {
    require(
      time >= .zero, "time must not be negative: a clock does not go back", file: file, line: line)
    lrd_manual_clock_advance(core, time.nanoseconds)
  }
}
