// SPDX-License-Identifier: Apache-2.0
import CLarder

/// How short memory is, and who is told.
///
/// Every cache answers to pressure as its ``Cache/pressure`` says; <doc:GivingWay>
/// describes how. A program that knows better than the system can say so:
///
///     MemoryPressure.report(.warning)   // caches give up half
///     …
///     MemoryPressure.report(.normal)    // nothing is removed; the limits come back step by step
public enum MemoryPressure {
  /// How short memory is.
  public enum Level: Int, Sendable, Comparable, CaseIterable {
    /// There is enough.
    case normal
    /// It runs short. Caches give up what is cold.
    case warning
    /// The system is about to end processes. Caches give up nearly everything.
    case critical

    public static func < (a: Level, b: Level) -> Bool { a.rawValue < b.rawValue }
  }

  /// Says how short memory is, until the next call. The level that counts is this one or that of
  /// the system, whichever is higher.
  ///
  /// When the call returns, all caches have answered: on the calling thread, without ever waiting
  /// for a lock of a shard. Closures of ``PressureResponse`` are called last. The same level may be
  /// reported again at any time; that removes only what has come since.
  ///
  /// - Complexity: O(1) for each cache and each entry evicted, and some milliseconds at most in
  ///   which the allocator returns memory to the system.
  public static func report(_ level: Level) {
    lrd_pressure_report(Int32(level.rawValue))
  }

  /// How short memory is now.
  ///
  /// - Complexity: O(1).
  public static var current: Level { Level(rawValue: Int(lrd_pressure_current())) ?? .normal }

  /// Says that the program went to the background. Caches with a ``PressureResponse`` that names a
  /// part to keep there give up the rest, and have lower limits until ``enterForeground()``; all
  /// others keep everything. Does nothing if the program is in the background already.
  ///
  /// - Complexity: Like ``report(_:)``.
  public static func enterBackground() { lrd_pressure_enter_background() }

  /// Says that the program is back. The limits are what they were; nothing is removed.
  ///
  /// - Complexity: O(1) for each cache.
  public static func enterForeground() { lrd_pressure_enter_foreground() }

  /// Sets the time between two steps in which limits come back, for tests.
  package static func setPause(nanoseconds: UInt64) { lrd_pressure_set_pause(nanoseconds) }
}
