// SPDX-License-Identifier: Apache-2.0

extension Cache {
  /// Whether `key` has no value because that was evicted; false when there is one, or there never
  /// was, or it was removed by name. To be asked after a miss.
  ///
  ///     if images[key] == nil && images.wasEvicted(key) { metrics.tooSmall += 1 }
  ///
  /// The cache must have been created with ``Options/rememberedEvictions``. It remembers about that
  /// many evicted keys, the latest ones: of these some 2 % are forgotten early. A key that was
  /// never evicted is taken for one that was in fewer than 2 of a billion cases. An eviction that
  /// another thread is making at this moment may not be known yet. Insertion of a key makes its
  /// earlier eviction forgotten; removal, of it or of all, does not.
  ///
  /// - Complexity: O(1). Takes no lock, except as ``contains(_:)`` does.
  public func wasEvicted(_ key: Key) -> Bool {
    guard let evictions = extras?.evictions else {
      stop("wasEvicted needs rememberedEvictions at the cache's creation")
    }
    return evictions.contains(hasher.hash(key)) && !contains(key)
  }
}
