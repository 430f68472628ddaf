// SPDX-License-Identifier: Apache-2.0
import CLarder

extension Cache {
  /// Removes the value stored for `key` if `matches` says so of it, and returns it; `nil` if there
  /// is no value, or another.
  ///
  /// Asking and removing are one step, so a value that was stored meanwhile stays. `matches` runs
  /// under the shard's lock: it may compare, and must neither use a cache nor take long.
  ///
  /// - Complexity: As `removeValue(forKey:)`.
  @discardableResult
  package func removeValue(forKey key: Key, where matches: (Value) -> Bool) -> Value? {
    let hash = hasher.hash(key)
    let lane = lrd_lane_attach(core)
    let shard = lrd_cache_shard(core, hash)
    lrd_change_begin(core, lane, shard)
    guard let entry = findLocked(key, hash, shard),
      matches(entry.value(of: Layout.self).pointee)
    else {
      lrd_change_cancel(core, shard)
      return nil
    }
    let value = entry.value(of: Layout.self).pointee
    var change = lrd_change()
    lrd_change_remove(core, shard, &change, entry)
    finish(&change, lane)
    return value
  }
}
