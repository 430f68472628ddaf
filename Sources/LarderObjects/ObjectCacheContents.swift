// SPDX-License-Identifier: Apache-2.0
public import Larder

/// What is in an ``ObjectCache``: the members that `NSCache` does not have.
///
/// They are apart from the cache, so that subclasses that bring such members themselves compile.
/// What is in the cache lives as long as one of these does.
///
///     let contents = ObjectCacheContents(of: cache)
///     print(contents.count, contents.totalCost, contents.allKeys)
///
/// **Threads.** Members may be used from any thread, like those of the cache.
public struct ObjectCacheContents<KeyType: AnyObject, ObjectType: AnyObject> {
  private let store: ObjectStore

  /// The contents of a cache, always as they are when asked.
  public init(of cache: ObjectCache<KeyType, ObjectType>) { store = cache.store }

  /// The number of objects stored.
  ///
  /// - Complexity: O(1), without a lock.
  public var count: Int { store.cache.count }

  /// The sum of their costs, at most `Int.max`.
  ///
  /// - Complexity: O(1), without a lock.
  public var totalCost: Int { store.cache.totalCost }

  /// All keys, most recently used first.
  ///
  /// - Complexity: O(*n*). Writers wait while they are copied.
  public var allKeys: [KeyType] {
    store.cache.snapshot().map { unsafeDowncast($0.key.object, to: KeyType.self) }
  }

  /// All objects in the order of their keys, among them those whose content is discarded.
  ///
  /// - Complexity: O(*n*). Writers wait while they are copied.
  public var allObjects: [ObjectType] {
    store.cache.snapshot().map { unsafeDowncast($0.value.object, to: ObjectType.self) }
  }

  /// What the cache has done since it was made. Looking up a discarded object is a hit here, and
  /// its eviction a removal.
  public var statistics: CacheStatistics { store.cache.statistics }

  /// Releases all removed objects that no thread is looking up, before it returns.
  ///
  /// - Complexity: As `Cache.reclaim()`.
  public func reclaim() { store.cache.reclaim() }
}
