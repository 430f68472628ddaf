// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport

/// A `LocalCache` in the terms of `CacheDriver`.
final class LocalDriver<Key: Hashable> {
  let cache: LocalCache<Key, Tracked>
  let tracker = LifetimeTracker()
  private var log: Log
  private let key: (Int) -> Key
  private let number: (Key) -> Int

  private final class Log { var removals: [Removal] = [] }

  init(
    _ limits: Limits, _ policy: EvictionPolicy, hashSeeds: (UInt64, UInt64),
    key: @escaping (Int) -> Key, number: @escaping (Key) -> Int
  ) {
    let log = Log()
    self.log = log
    self.key = key
    self.number = number
    cache = LocalCache(
      hasher: KeyHasher(seed0: hashSeeds.0, seed1: hashSeeds.1), countLimit: limits.count,
      totalCostLimit: limits.cost, policy: policy,
      onRemoval: { key, value, cost, cause in
        let payload = value.isIntact ? value.payload : .min
        log.removals.append(
          Removal(key: number(key), payload: payload, cost: cost, cause: cause))
      })
  }

  func takeRemovals() -> [Removal] {
    defer { log.removals = [] }
    return log.removals
  }

  func apply(_ operation: Operation, payload: Int) -> Answer {
    switch operation {
    case .get(let id): return .value(cache.value(forKey: key(id))?.payload)
    case .getBySubscript(let id): return .value(cache[key(id)]?.payload)
    case .lend(let id): return .value(cache.withValue(forKey: key(id)) { $0.payload })
    case .getMany(let ids): return .values(ids.map { cache.value(forKey: key($0))?.payload })
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
    case .removeOdd: cache.removeAll { key, _ in number(key) % 2 == 1 }
    case .trimToCount(let count): cache.trim(toCount: count)
    case .trimToCost(let cost): cache.trim(toCost: cost)
    case .setCountLimit(let limit): cache.countLimit = limit
    case .setCostLimit(let limit): cache.totalCostLimit = limit
    case .reclaim: break
    }
    return .nothing
  }

  var entries: [Entry] {
    cache.snapshot().map { Entry(key: number($0.key), payload: $0.value.payload, cost: $0.cost) }
  }
}
