// SPDX-License-Identifier: Apache-2.0
import CLarder

/// What the loads of a cache have done since it was created.
///
/// Everything is counted under locks that loads take anyway. The sums mix slightly different
/// moments while others load.
public struct LoadStatistics: Sendable, Hashable {
  /// Loads that returned a value.
  public internal(set) var loads = 0
  /// Loads that threw, other than ``NoValue``.
  public internal(set) var failures = 0
  /// Loads that found that there is no value: they threw ``NoValue``.
  public internal(set) var absences = 0
  /// The time that loaders took, added up over all loads.
  public internal(set) var time = Duration.zero
  /// Callers that waited for a load that another one had begun.
  public internal(set) var shared = 0
  /// Callers that got a failure that was remembered.
  public internal(set) var remembered = 0
  /// Callers that got a value that had expired, because its load had failed.
  public internal(set) var stale = 0
  /// Loads that were begun to refresh a value.
  public internal(set) var refreshes = 0
  /// Callers that were cancelled while they waited, or got a ``LoadCycle``.
  public internal(set) var left = 0
  /// Loads that were cancelled because all callers had left.
  public internal(set) var cancellations = 0
  /// Loads that a removal or an insertion outdated, so that their values were not stored, or will
  /// not be. May fall by what came between a load's storing and its end.
  public internal(set) var outdated = 0

  init() {}

  mutating func add(_ other: LoadStatistics) { combine(other, +, +) }

  fileprivate mutating func combine(
    _ other: LoadStatistics, _ count: (Int, Int) -> Int, _ sum: (Duration, Duration) -> Duration
  ) {
    loads = count(loads, other.loads)
    failures = count(failures, other.failures)
    absences = count(absences, other.absences)
    time = sum(time, other.time)
    shared = count(shared, other.shared)
    remembered = count(remembered, other.remembered)
    stale = count(stale, other.stale)
    refreshes = count(refreshes, other.refreshes)
    left = count(left, other.left)
    cancellations = count(cancellations, other.cancellations)
    outdated = count(outdated, other.outdated)
  }
}

/// The sum over several caches, and the difference between two moments of one.
extension LoadStatistics: AdditiveArithmetic {
  public static var zero: LoadStatistics { LoadStatistics() }

  public static func + (left: LoadStatistics, right: LoadStatistics) -> LoadStatistics {
    var sum = left
    sum.add(right)
    return sum
  }

  /// What has been done since `right`, statistics of the same cache, were taken.
  public static func - (left: LoadStatistics, right: LoadStatistics) -> LoadStatistics {
    var difference = left
    difference.combine(right, -, -)
    return difference
  }
}

extension Cache {
  /// What the loads of this cache have done since it was created.
  ///
  /// - Complexity: O(1). Takes some locks for a few steps each.
  public var loadStatistics: LoadStatistics { flights?.numbers ?? LoadStatistics() }
}

extension Cache {
  /// The number of loads under way and of failures remembered, for tests.
  package var flightCount: Int { flights?.count ?? 0 }

  /// The number of callers that loads under way hold, for tests.
  package var waiterCount: Int { flights?.waiterCount ?? 0 }

  /// The flights that the shards know of, for tests.
  package var countedFlights: Int {
    (0..<UInt32(lrd_cache_shards(core))).reduce(0) { sum, index in
      let shard = lrd_cache_shard_at(core, index)
      lrd_shard_enter(core, nil, shard)
      defer { lrd_shard_leave(core, shard) }
      return sum + Int(lrd_flights_locked(shard))
    }
  }
}
