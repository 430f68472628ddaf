// SPDX-License-Identifier: Apache-2.0
import Larder

/// A cache so plain that it is right by reading: one array, hottest entry first.
public struct ModelCache: Sendable {
  public private(set) var entries: [Entry] = []
  public private(set) var countLimit: Int
  public private(set) var costLimit: Int
  /// Removals of the last step, in no promised order.
  public private(set) var removals: [Removal] = []
  public private(set) var statistics = ModelStatistics()

  public init(countLimit: Int = 0, costLimit: Int = 0) {
    self.countLimit = countLimit
    self.costLimit = costLimit
  }

  /// Saturated, as the cache reports it.
  public var totalCost: Int { Int(clamping: exactCost) }
  private var exactCost: UInt128 { entries.reduce(0) { $0 + UInt128($1.cost) } }

  /// Applies one operation; an inserted value carries `payload`.
  public mutating func apply(_ operation: Operation, payload: Int) -> Answer {
    removals = []
    switch operation {
    case .get(let key), .getBySubscript(let key), .lend(let key):
      return .value(use(key))
    case .getMany(let keys):
      return .values(keys.map { use($0) })
    case .peek(let key):
      return .value(entries.first { $0.key == key }?.payload)
    case .contains(let key):
      return .flag(entries.contains { $0.key == key })
    case .insert(let key, let cost):
      return .insertion(put(key, payload, cost).outcome)
    case .update(let key, let cost):
      return .value(put(key, payload, cost).old)
    case .setBySubscript(let key):
      _ = put(key, payload, nil)
    case .clearBySubscript(let key):
      _ = take(key, .removed)
    case .remove(let key):
      return .value(take(key, .removed))
    case .removeAll:
      for entry in entries { _ = take(entry.key, .removed) }
    case .removeOdd:
      for entry in entries where entry.key % 2 == 1 { _ = take(entry.key, .removed) }
    case .trimToCount(let count):
      while entries.count > count { evictColdest(.trimmed) }
    case .trimToCost(let cost):
      while exactCost > UInt128(cost) { evictColdest(.trimmed) }
    case .setCountLimit(let limit):
      countLimit = limit
      enforceLimits(.trimmed)
    case .setCostLimit(let limit):
      costLimit = limit
      enforceLimits(.trimmed)
    case .reclaim:
      break
    }
    return .nothing
  }

  private mutating func use(_ key: Int) -> Int? {
    guard let index = entries.firstIndex(where: { $0.key == key }) else {
      statistics.misses += 1
      return nil
    }
    statistics.hits += 1
    let entry = entries.remove(at: index)
    entries.insert(entry, at: 0)
    return entry.payload
  }

  private mutating func put(
    _ key: Int, _ payload: Int, _ givenCost: Int?
  ) -> (outcome: InsertionOutcome, old: Int?) {
    let cost = givenCost ?? (costLimit > 0 && countLimit == 0 ? 1 : 0)
    if costLimit > 0 && cost > costLimit {
      statistics.refusals += 1
      return (.tooCostly, take(key, .removed))
    }
    let old = take(key, .replaced)
    if old == nil { statistics.insertions += 1 }
    entries.insert(Entry(key: key, payload: payload, cost: cost), at: 0)
    enforceLimits(.limit)
    return (old == nil ? .inserted : .replaced, old)
  }

  private mutating func take(_ key: Int, _ cause: RemovalCause) -> Int? {
    guard let index = entries.firstIndex(where: { $0.key == key }) else { return nil }
    let entry = entries.remove(at: index)
    note(entry, cause)
    return entry.payload
  }

  private mutating func evictColdest(_ cause: RemovalCause) { note(entries.removeLast(), cause) }

  /// A limit that is lowered trims; a limit that an insertion meets evicts.
  private mutating func enforceLimits(_ cause: RemovalCause) {
    while countLimit > 0 && entries.count > countLimit { evictColdest(cause) }
    while costLimit > 0 && exactCost > UInt128(costLimit) { evictColdest(cause) }
  }

  private mutating func note(_ entry: Entry, _ cause: RemovalCause) {
    removals.append(
      Removal(key: entry.key, payload: entry.payload, cost: entry.cost, cause: cause))
    switch cause {
    case .limit: statistics.limitEvictions += 1
    case .trimmed: statistics.trimEvictions += 1
    case .replaced: statistics.replacements += 1
    case .removed: statistics.removals += 1
    }
  }
}

/// The counters a model keeps. It does not tell the two limits apart: where both are exceeded
/// at once, either may be named.
public struct ModelStatistics: Sendable, Hashable {
  public var hits = 0
  public var misses = 0
  public var insertions = 0
  public var replacements = 0
  public var removals = 0
  public var refusals = 0
  public var limitEvictions = 0
  public var trimEvictions = 0

  public init() {}

  public init(_ statistics: CacheStatistics) {
    hits = statistics.hits
    misses = statistics.misses
    insertions = statistics.insertions
    replacements = statistics.replacements
    removals = statistics.removals
    refusals = statistics.refusals
    limitEvictions = statistics.countLimitEvictions + statistics.costLimitEvictions
    trimEvictions = statistics.trimEvictions
  }
}
