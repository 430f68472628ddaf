// SPDX-License-Identifier: Apache-2.0

/// What a cache has done since it was created.
///
/// Each thread and each shard has counters of its own, which are added up when asked for. So
/// counting costs a hit one store to private memory. While other threads work, the sums mix
/// slightly different moments.
public struct CacheStatistics: Sendable, Hashable {
  /// Lookups that found a value.
  public let hits: Int
  /// Lookups that found no value.
  public let misses: Int
  /// Values stored under keys that had none.
  public let insertions: Int
  /// Values stored in place of earlier ones.
  public let replacements: Int
  /// Entries removed by name, by a `removeAll`, by `removeUnreferenced`, or by a replacement that
  /// was too costly or had no time to live.
  public let removals: Int
  /// Insertions refused because their cost alone exceeds the limit. Nothing counts those refused
  /// as ``InsertionOutcome/expired`` or ``InsertionOutcome/outOfMemory``.
  public let refusals: Int
  /// Entries evicted to keep ``Cache/countLimit``. An entry that a group's quota or
  /// ``Cache/Options/shouldEvict`` chose counts here if the count limit was reached or there is no
  /// ``Cache/totalCostLimit``, and as ``costLimitEvictions`` otherwise.
  public let countLimitEvictions: Int
  /// Entries evicted to keep ``Cache/totalCostLimit``.
  public let costLimitEvictions: Int
  /// Entries evicted by trimming, by lowering a limit, or by a purge to a preferred count or cost.
  public let trimEvictions: Int
  /// Entries that have left because their time was over. They do not count as evicted or removed.
  public let expirations: Int
  /// Entries evicted because memory ran short, or the program went to the background.
  public let evictionsByPressure: Int
  /// Hits that never reached the eviction order because other threads kept the shard busy.
  public let unorderedHits: Int
  /// All entries evicted, for any reason.
  public var evictions: Int {
    countLimitEvictions + costLimitEvictions + trimEvictions + evictionsByPressure
  }

  /// The share of lookups that found a value; 0 before the first lookup.
  public var hitRatio: Double {
    hits + misses == 0 ? 0 : Double(hits) / Double(hits + misses)
  }
}

/// The sum over several caches, and the difference between two moments of one.
extension CacheStatistics: AdditiveArithmetic {
  public static var zero: CacheStatistics { CacheStatistics(nil, nil, +) }

  public static func + (left: CacheStatistics, right: CacheStatistics) -> CacheStatistics {
    CacheStatistics(left, right, +)
  }

  /// What has been done since `right`, statistics of the same cache, were taken.
  public static func - (left: CacheStatistics, right: CacheStatistics) -> CacheStatistics {
    CacheStatistics(left, right, -)
  }

  private init(
    _ left: CacheStatistics?, _ right: CacheStatistics?, _ combine: (Int, Int) -> Int
  ) {
    func field(_ path: KeyPath<CacheStatistics, Int>) -> Int {
      combine(left?[keyPath: path] ?? 0, right?[keyPath: path] ?? 0)
    }
    self.init(
      hits: field(\.hits), misses: field(\.misses), insertions: field(\.insertions),
      replacements: field(\.replacements), removals: field(\.removals),
      refusals: field(\.refusals), countLimitEvictions: field(\.countLimitEvictions),
      costLimitEvictions: field(\.costLimitEvictions), trimEvictions: field(\.trimEvictions),
      expirations: field(\.expirations), evictionsByPressure: field(\.evictionsByPressure),
      unorderedHits: field(\.unorderedHits))
  }
}
