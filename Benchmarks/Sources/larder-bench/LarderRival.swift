// SPDX-License-Identifier: Apache-2.0
import Larder

/// Larder as its users write it: a count limit, everything else by default.
struct LarderRival<Key: Hashable & Sendable, Value: Sendable>: Rival {
  let cache: Cache<Key, Value>

  init(capacity: Int) { cache = Cache(countLimit: capacity) }

  @inline(__always)
  func get(_ key: Key) -> Value? { cache.value(forKey: key) }

  @inline(__always)
  func put(_ value: Value, for key: Key) { cache.insert(value, forKey: key) }
}
