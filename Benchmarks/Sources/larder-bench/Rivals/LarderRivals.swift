// SPDX-License-Identifier: Apache-2.0
import Foundation
import Larder

/// Larder as its users write it: limits, `value(forKey:)`, `insert`, and defaults for everything
/// else.
struct LarderRival<Key: RequestKey, Value: Measurable>: Rival {
  let cache: Cache<Key, Value>

  init(_ limits: Limits) { cache = Cache(limits) }

  @inline(__always)
  func read(_ key: Key) -> UInt64? { cache.value(forKey: key)?.number }

  @inline(__always)
  func put(_ value: Value, for key: Key) { cache.insert(value, forKey: key) }

  @inline(__always)
  func put(_ value: Value, for key: Key, cost: Int) { cache.insert(value, forKey: key, cost: cost) }
}

/// Larder with `withValue`, which lends the value instead of handing out a reference.
struct LarderLending<Key: RequestKey, Value: Measurable>: Rival {
  let cache: Cache<Key, Value>

  init(_ limits: Limits) { cache = Cache(limits) }

  @inline(__always)
  func read(_ key: Key) -> UInt64? { cache.withValue(forKey: key) { $0.number } }

  @inline(__always)
  func put(_ value: Value, for key: Key) { cache.insert(value, forKey: key) }

  @inline(__always)
  func put(_ value: Value, for key: Key, cost: Int) { cache.insert(value, forKey: key, cost: cost) }
}

/// Larder with `value(forKey:load:)`, which loads what is missing, once for all who ask.
struct LarderLoading<Key: RequestKey, Value: Measurable>: Rival {
  let cache: Cache<Key, Value>
  let loadTime: UInt32

  init(_ limits: Limits) {
    cache = Cache(limits)
    loadTime = UInt32(limits.loadTime)
  }

  @inline(__always)
  func read(_ key: Key) -> UInt64? {
    var loads = false
    // Nothing is thrown: not by the loader, and no load waits for itself.
    let value = try! cache.value(forKey: key) { _ in
      loads = true
      if loadTime > 0 { usleep(loadTime) }
      return Value(1)
    }
    return loads ? nil : value.number
  }

  @inline(__always)
  func put(_ value: Value, for key: Key) { cache.insert(value, forKey: key) }
}

extension Cache {
  convenience init(_ limits: Limits) {
    self.init(
      countLimit: limits.capacity, totalCostLimit: limits.costLimit, policy: limits.policy,
      shards: limits.shards)
  }
}
