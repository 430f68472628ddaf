// SPDX-License-Identifier: Apache-2.0
import Larder

/// The operations of `Probe` on a cache for one thread.
@inline(__always)
func countLocal<Key: Hashable, Value>(
  _ type: String, _ policy: EvictionPolicy, storesOnly: Bool = false, ending: String = "",
  key: (UInt64) -> Key, value: (UInt64) -> Value
) {
  let total = UInt64(operations)
  let spread = { (number: UInt64) in number &* 0x9E37_79B9_7F4A_7C15 }
  let first = (0..<total).map { key(spread($0)) }
  let second = (total..<2 * total).map { key(spread($0)) }
  let resident = (0..<total).map { key(spread($0 &* 7919 % total)) }
  let values = (0..<total).map(value)
  let full = LocalCache<Key, Value>(countLimit: operations, policy: policy)
  for (key, value) in zip(first, values) { full.insert(value, forKey: key) }
  let empty = LocalCache<Key, Value>(policy: policy)

  if !storesOnly {
    counted("hit_local_\(type)", wanted: operations) { found(full, resident) }
    counted("miss_local_\(type)", wanted: 0) { found(full, second) }
  }
  counted("insert_local_\(type)\(ending)", wanted: operations) { insert(empty, second, values) }
  counted("evict_local_\(type)\(ending)", wanted: operations) { insert(full, second, values) }
}

@inline(never)
private func found<Key, Value>(_ cache: LocalCache<Key, Value>, _ keys: [Key]) -> Int {
  var found = 0
  for key in keys where cache.value(forKey: key) != nil { found += 1 }
  return found
}

@inline(never)
private func insert<Key, Value>(
  _ cache: LocalCache<Key, Value>, _ keys: [Key], _ values: [Value]
) -> Int {
  for index in keys.indices { cache.insert(values[index], forKey: keys[index]) }
  return cache.count
}
