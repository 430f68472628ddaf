// SPDX-License-Identifier: Apache-2.0

extension Cache {
  /// Whether `key` has no value because its entry was evicted. Ask after a miss.
  ///
  ///     if images[url] == nil && images.wasEvicted(url) { metrics.tooSmall += 1 }
  ///
  /// The answer is false if the key has a value, never had one, or was removed by name, and always
  /// in a cache that was created without ``Options/rememberedEvictions``.
  ///
  /// The cache remembers about that many evicted keys, the most recent ones, and forgets some 2 %
  /// of them early. It takes a key that was never evicted for an evicted one in fewer than 2 of a
  /// billion cases. It may not yet know of an eviction that another thread is making at this
  /// moment. Inserting a key makes the cache forget the key's earlier eviction; removing the key,
  /// or all keys, does not.
  ///
  /// - Complexity: O(1). Takes no lock, except for a key that was evicted.
  public func wasEvicted(_ key: Key) -> Bool {
    guard let evictions = extras?.evictions else { return false }
    let hash = hasher.hash(key)
    return evictions.contains(hash) && !holds(key, hash)
  }
}
