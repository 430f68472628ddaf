// SPDX-License-Identifier: Apache-2.0
import Larder

/// A real cache in the model's terms: small keys, tracked values, and a record of removals.
public final class CacheDriver<Key: Hashable & Sendable> {
  public let cache: Cache<Key, Tracked>
  public let tracker = LifetimeTracker()
  private let log: Protected<[Removal]>
  let key: (Int) -> Key

  public init(
    countLimit: Int = 0, costLimit: Int = 0, policy: EvictionPolicy = .lru, shards: Int? = nil,
    observed: Bool = true, expiration: Expiration = .never, clock: ManualClock? = nil,
    hashSeeds: (UInt64, UInt64)? = nil,
    key: @escaping (Int) -> Key, number: @escaping @Sendable (Key) -> Int
  ) {
    let log = Protected<[Removal]>([])
    self.log = log
    self.key = key
    let observer: Cache<Key, Tracked>.RemovalObserver = { key, value, cost, cause in
      let removal = Removal(
        key: number(key), payload: value.isIntact ? value.payload : Int.min, cost: cost,
        cause: cause)
      log.withLock { $0.append(removal) }
    }
    var options = Cache<Key, Tracked>.Options()
    options.hashSeeds = hashSeeds
    if let clock { options.clock = .manual(clock) }
    cache = Cache(
      countLimit: countLimit, totalCostLimit: costLimit, policy: policy, shards: shards,
      onRemoval: observed ? observer : nil, expiration: expiration, options: options)
    self.number = number
  }

  private let number: @Sendable (Key) -> Int

  /// The removals since the last call.
  public func takeRemovals() -> [Removal] {
    log.withLock { log in
      defer { log.removeAll(keepingCapacity: true) }
      return log
    }
  }

  public func apply(_ operation: Operation, payload: Int) -> Answer {
    switch operation {
    case .get(let id): return .value(cache.value(forKey: key(id))?.payload)
    case .getBySubscript(let id): return .value(cache[key(id)]?.payload)
    case .lend(let id): return .value(cache.withValue(forKey: key(id)) { $0.payload })
    case .getMany(let ids): return .values(cache.values(forKeys: ids.map(key)).map { $0?.payload })
    case .peek(let id): return .value(cache.peek(forKey: key(id))?.payload)
    case .contains(let id): return .flag(cache.contains(key(id)))
    case .insert(let id, let cost):
      return .insertion(cache.insert(tracker.make(payload), forKey: key(id), cost: cost))
    case .update(let id, let cost):
      return .value(
        cache.updateValue(tracker.make(payload), forKey: key(id), cost: cost)?.payload)
    case .setBySubscript(let id): cache[key(id)] = tracker.make(payload)
    case .clearBySubscript(let id): cache[key(id)] = nil
    case .remove(let id): return .value(cache.removeValue(forKey: key(id))?.payload)
    case .removeAll: cache.removeAll()
    case .removeOdd:
      let number = number
      cache.removeAll { key, _ in number(key) % 2 == 1 }
    case .trimToCount(let count): cache.trim(toCount: count)
    case .trimToCost(let cost): cache.trim(toCost: cost)
    case .setCountLimit(let limit): cache.countLimit = limit
    case .setCostLimit(let limit): cache.totalCostLimit = limit
    case .reclaim: cache.reclaim()
    }
    return .nothing
  }

  /// The entries, hottest first.
  public var entries: [Entry] { entries(cache.snapshot()) }

  public func entries(_ elements: [Cache<Key, Tracked>.Element]) -> [Entry] {
    elements.map { Entry(key: number($0.key), payload: $0.value.payload, cost: $0.cost) }
  }
}

extension CacheDriver where Key == Int {
  public convenience init(
    countLimit: Int = 0, costLimit: Int = 0, policy: EvictionPolicy = .lru, shards: Int? = nil,
    observed: Bool = true
  ) {
    self.init(
      countLimit: countLimit, costLimit: costLimit, policy: policy, shards: shards,
      observed: observed, key: { $0 }, number: { $0 })
  }
}
