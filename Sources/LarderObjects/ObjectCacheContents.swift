// SPDX-License-Identifier: Apache-2.0
public import Larder

/// What an ``ObjectCache`` holds: the members that `NSCache` does not have.
///
/// They are kept apart from the cache, so that subclasses with such members of their own compile.
/// The contents of the cache live at least as long as a value of this type.
///
///     let contents = ObjectCacheContents(of: files)
///     print(contents.count, contents.totalCost, contents.allKeys)
///
/// **Threads.** All members may be called from any thread, like those of the cache.
public struct ObjectCacheContents<KeyType: AnyObject, ObjectType: AnyObject> {
  private let store: ObjectStore

  /// Creates a view of a cache's contents. Its members always answer for the present moment.
  public init(of cache: ObjectCache<KeyType, ObjectType>) { store = cache.store }

  /// The number of objects stored.
  ///
  /// - Complexity: O(1), without a lock.
  public var count: Int { store.cache.count }

  /// The sum of the costs of all objects, at most `Int.max`.
  ///
  /// - Complexity: O(1), without a lock.
  public var totalCost: Int { store.cache.totalCost }

  /// All keys, most recently used first, if nobody uses the cache meanwhile.
  ///
  /// - Complexity: O(*n*). More than some hundred are listed in several steps, between which others
  ///   may write. See `Cache.snapshot()`.
  public var allKeys: [KeyType] {
    store.cache.snapshot().map { unsafeDowncast($0.key.object, to: KeyType.self) }
  }

  /// All objects, in the order of ``allKeys``, including those whose content was discarded.
  ///
  /// - Complexity: Like ``allKeys``.
  public var allObjects: [ObjectType] {
    store.cache.snapshot().map { unsafeDowncast($0.value.object, to: ObjectType.self) }
  }

  /// What the cache has done since it was created. A lookup of a discarded object counts as a hit,
  /// and its eviction as a removal.
  public var statistics: CacheStatistics { store.cache.statistics }

  /// Releases all removed objects that no thread is looking up, before it returns.
  ///
  /// - Complexity: Like `Cache.reclaim()`.
  public func reclaim() { store.cache.reclaim() }
}
