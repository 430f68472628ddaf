// SPDX-License-Identifier: Apache-2.0
import Larder

/// A cache so plain that it is right by reading: a dictionary, and a policy made of arrays.
public struct ModelCache {
  private var stored: [Int: Entry] = [:]
  private var policy: any PolicyModel
  private let ordersByCost: Bool
  public private(set) var countLimit: Int
  public private(set) var costLimit: Int
  /// The removals of the last step, in any order.
  public private(set) var removals: [Removal] = []
  public private(set) var statistics = ModelStatistics()

  public init(countLimit: Int = 0, costLimit: Int = 0, policy: EvictionPolicy = .lru) {
    self.policy = policy.model(capacity: countLimit)
    ordersByCost = policy.needsCosts
    self.countLimit = countLimit
    self.costLimit = costLimit
  }

  /// Hottest first.
  public var entries: [Entry] { policy.order.reversed().map { stored[$0]! } }

  /// Saturated, because the cache reports it that way.
  public var totalCost: Int { Int(clamping: exactCost) }
  private var exactCost: UInt128 { stored.values.reduce(0) { $0 + UInt128($1.cost) } }

  /// Applies one operation. An inserted value carries `payload`.
  public mutating func apply(_ operation: Operation, payload: Int) -> Answer {
    removals = []
    switch operation {
    case .get(let key), .getBySubscript(let key), .lend(let key):
      return .value(use(key))
    case .getMany(let keys):
      return .values(keys.map { use($0) })
    case .peek(let key):
      return .value(stored[key]?.payload)
    case .contains(let key):
      return .flag(stored[key] != nil)
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
      for entry in stored.values { note(entry, .removed) }
      stored = [:]
      policy.removeAll()
    case .removeOdd:
      for key in stored.keys where key % 2 == 1 { _ = take(key, .removed) }
    case .trimToCount(let count):
      while stored.count > count { evictNext(.trimmed) }
    case .trimToCost(let cost):
      while exactCost > UInt128(cost) { evictNextForCost() }
    case .setCountLimit(let limit):
      countLimit = limit
      enforceLimits()
    case .setCostLimit(let limit):
      costLimit = limit
      enforceLimits()
    case .reclaim:
      break
    }
    return .nothing
  }

  private mutating func use(_ key: Int) -> Int? {
    guard let entry = stored[key] else {
      statistics.misses += 1
      return nil
    }
    statistics.hits += 1
    policy.hit(key)
    return entry.payload
  }

  private mutating func put(
    _ key: Int, _ payload: Int, _ givenCost: Int?
  ) -> (outcome: InsertionOutcome, old: Int?) {
    let cost = givenCost ?? (costLimit > 0 ? 1 : 0)
    if costLimit > 0 && cost > costLimit {
      statistics.refusals += 1
      return (.tooCostly, take(key, .removed))
    }
    policy.prepare()
    let old = stored[key]
    if old != nil { policy.hit(key) }
    let keepsPlace = makeRoom(for: cost, replacing: old)
    if let old { note(old, .replaced) } else { statistics.insertions += 1 }
    stored[key] = Entry(key: key, payload: payload, cost: cost)
    if keepsPlace { policy.replace(key, cost: cost) } else { policy.insert(key, cost: cost) }
    return (old == nil ? .inserted : .replaced, old?.payload)
  }

  /// Evicts until there is room. An old value that would be evicted next loses its position
  /// instead. Returns whether there is an old value that has kept its position.
  private mutating func makeRoom(for cost: Int, replacing old: Entry?) -> Bool {
    var keepsPlace = old != nil
    var passed = 0
    while let wantsCost = shortage(of: cost, replacing: old) {
      guard let victim = policy.victim() else {
        // Nothing else is left, so the insertion begins again without the old value.
        policy.prepare()
        break
      }
      if victim == old?.key {
        policy.remove(victim, evicted: false)
        keepsPlace = false
      } else if !(wantsCost && passOver(victim, &passed, inTrim: false)) {
        // What was passed over counts as used before the value that is replaced.
        if passed > 0 && keepsPlace { policy.renew(old!.key) }
        evict(victim, .limit)
        passed = 0
      }
    }
    return keepsPlace
  }

  /// Whether cost is short; `nil` if nothing is.
  private func shortage(of cost: Int, replacing old: Entry?) -> Bool? {
    if countLimit > 0 && old == nil && stored.count >= countLimit { return false }
    if costLimit == 0 || old?.cost ?? 0 >= cost { return nil }
    let without = exactCost - UInt128(old?.cost ?? 0)
    return without + UInt128(cost) > UInt128(costLimit) ? true : nil
  }

  /// Lets others go before an entry of cost 0, which frees no cost; up to 16 in turn.
  private mutating func passOver(_ victim: Int, _ passed: inout Int, inTrim: Bool) -> Bool {
    if ordersByCost || stored[victim]!.cost > 0 || passed == 16 { return false }
    passed += 1
    if inTrim { policy.trimPass(victim) } else { policy.pass(victim) }
    return true
  }

  /// Takes out the entry of a key that has expired, or whose new value is not stored.
  public mutating func leave(_ key: Int, _ cause: RemovalCause) { _ = take(key, cause) }

  private mutating func take(_ key: Int, _ cause: RemovalCause) -> Int? {
    guard let entry = stored.removeValue(forKey: key) else { return nil }
    policy.remove(key, evicted: false)
    note(entry, cause)
    return entry.payload
  }

  private mutating func evict(_ key: Int, _ cause: RemovalCause) {
    policy.remove(key, evicted: true)
    note(stored.removeValue(forKey: key)!, cause)
  }

  private mutating func evictNext(_ cause: RemovalCause) { evict(policy.trimVictim()!, cause) }

  private mutating func evictNextForCost() {
    var passed = 0
    var victim = policy.trimVictim()!
    while passOver(victim, &passed, inTrim: true) { victim = policy.trimVictim()! }
    evict(victim, .trimmed)
  }

  /// Lowering a limit trims.
  private mutating func enforceLimits() {
    while countLimit > 0 && stored.count > countLimit { evictNext(.trimmed) }
    while costLimit > 0 && exactCost > UInt128(costLimit) { evictNextForCost() }
  }

  private mutating func note(_ entry: Entry, _ cause: RemovalCause) {
    removals.append(
      Removal(key: entry.key, payload: entry.payload, cost: entry.cost, cause: cause))
    switch cause {
    case .limit: statistics.limitEvictions += 1
    case .trimmed: statistics.trimEvictions += 1
    case .replaced: statistics.replacements += 1
    case .removed: statistics.removals += 1
    case .expired: statistics.expirations += 1
    case .pressure: break  // happens to no model
    }
  }
}

/// The counters of a model. It does not tell the two limits apart: if both are exceeded at the same
/// time, either may be named.
public struct ModelStatistics: Sendable, Hashable {
  public var hits = 0
  public var misses = 0
  public var insertions = 0
  public var replacements = 0
  public var removals = 0
  public var refusals = 0
  public var limitEvictions = 0
  public var trimEvictions = 0
  public var expirations = 0

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
    expirations = statistics.expirations
  }
}
