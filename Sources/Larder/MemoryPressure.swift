// SPDX-License-Identifier: Apache-2.0
import CLarder

/// How short memory is, and who is told.
///
/// Every ``Cache`` answers to pressure as its ``Cache/pressure`` says; <doc:GivingWay>
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
  /// When the call returns, all caches have answered, on the calling thread. Evictions only try the
  /// locks of shards. What comes after them waits for locks, but holds each for a few entries only:
  /// limits are lowered, tables shrink, and what no reader holds is destroyed. Closures of
  /// ``PressureResponse`` are called last. The same level may be reported again at any time; that
  /// removes only what has come since.
  ///
  /// - Complexity: O(1) for each cache and each entry evicted, and some milliseconds at most in
  ///   which the allocator returns memory to the system; with glibc's `malloc`, tenths of a second
  ///   where a million blocks are free. While other threads write to a cache all
  ///   the time, finding its locks free may take a tenth of a second.
  public static func report(_ level: Level) {
    lrd_pressure_report(Int32(level.rawValue))
  }

  /// Says that memory runs short, for so long: for news whose end nobody tells. Otherwise like
  /// ``report(_:)``, whose level stands beside it.
  package static func warn(for time: Duration) {
    lrd_pressure_warn(Int32(Level.warning.rawValue), time.nanoseconds)
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

  /// Something that tells how short memory is.
  public struct Source: Sendable, Hashable {
    /// What it is: usually the path of a file.
    public let name: String
    /// Why it cannot be watched, in the system's words; `nil` if it is watched.
    public let problem: String?
    /// Whether it is watched.
    public var isWatched: Bool { problem == nil }
  }

  /// What is watched, and what could not be. Empty while nothing is: before the first cache that
  /// heeds pressure, and after ``stop()``.
  ///
  /// On Linux these are the stalls of the system and of the nearest control group with a limit
  /// (PSI), or of the process's own if none has one, and that group's usage and events. On Apple's
  /// systems it is the memory pressure of the system. <doc:GivingWay> has the thresholds.
  ///
  /// - Complexity: O(1).
  public static var sources: [Source] {
    var sources: [Source] = []
    while let source = source(sources.count) { sources.append(source) }
    return sources
  }

  private static func source(_ index: Int) -> Source? {
    let room = 320
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 2 * room) { texts in
      let name = texts.baseAddress!
      let problem = name + room
      guard lrd_pressure_source(Int32(index), name, problem, room) else { return nil }
      return Source(
        name: String(cString: name), problem: problem.pointee == 0 ? nil : String(cString: problem))
    }
  }

  /// Listens to the system. The first cache that heeds pressure does this by itself, unless
  /// ``stop()`` was called before.
  ///
  /// One thread sleeps until the system has news. It does not run while there are none, except
  /// where the system refuses to wake it: then it looks every two seconds. A source that could not
  /// be opened, or was lost, is tried again when this is called. If none of the control group's is
  /// watched, the group is looked for again.
  ///
  /// - Complexity: Opens a few files, and starts a thread.
  public static func start() { lrd_pressure_start() }

  /// Listens to the system no more, until ``start()``. The level of the system is normal from then
  /// on; ``report(_:)`` works as before.
  ///
  /// - Complexity: Like ``report(_:)``.
  public static func stop() { lrd_pressure_stop() }

  /// Looks for the system's files under another root and reads averages only, for tests.
  package static func setRoot(_ path: String) { lrd_pressure_set_root(path) }

  /// Sets the time between two steps in which limits come back, for tests.
  package static func setPause(nanoseconds: UInt64) { lrd_pressure_set_pause(nanoseconds) }

  /// Does what is due in so many hours, for tests.
  package static func pass(hours: UInt64) {
    _ = lrd_pressure_tick(lrd_clock() + hours * 3_600_000_000_000)
  }
}
