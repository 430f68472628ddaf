// SPDX-License-Identifier: Apache-2.0
public import Foundation
import Larder

/// A cache of objects with the members of Foundation's `NSCache`, on Larder's core.
///
/// Code written for `NSCache` compiles with these lines, and keeps its meaning:
///
///     import LarderObjects
///     typealias NSCache = ObjectCache
///     typealias NSCacheDelegate = ObjectCacheDelegate
///
/// What `NSCache` leaves open holds here as follows.
///
/// - **Order.** The object that was not used for longest goes first, exactly (the policy
///   `EvictionPolicy.lru` with one shard): the newest object always stays. That is what `NSCache`
///   is seen to do on Apple's systems, and the opposite of what it does on Linux.
/// - **Limits** are kept when a call returns, and lowering one trims at once. 0 is no limit.
///   Negative limits and costs count as 0. Sums of costs do not overflow.
/// - **An object that alone exceeds the cost limit** is not stored: its key has no value then, all
///   other objects stay, and the delegate is told of it as of an evicted one.
/// - **Keys** are retained, not copied, and must not change in what makes them equal. `NSObject`s
///   are compared with `isEqual(_:)`, other classes with `==` if they are `Hashable`, and by
///   identity if not.
/// - **Memory pressure** and the change of an app to the background remove nothing.
///
/// **Threads.** Every member may be called from any thread at any time. A hit takes no lock.
/// ``delegate``, ``name`` and ``evictsObjectsWithDiscardedContent`` are guarded by a lock of their
/// own. The type is not `Sendable`, as it cannot know whether keys, objects and delegate are; the
/// typed `Cache` is.
///
/// **Release.** Objects are released without a lock, and their `deinit` may call the cache. So may
/// the delegate. The `isEqual(_:)` or `==` of a key must not: it may run under the cache's lock. An
/// object is released before the call that removed it returns while one thread uses caches in the
/// process, otherwise soon after no thread is looking it up.
///
/// **Subclasses** may override every member. ``setObject(_:forKey:)`` calls
/// ``setObject(_:forKey:cost:)``; no other member calls one of these.
///
/// Complexities count one step for hashing or comparing a key.
open class ObjectCache<KeyType: AnyObject, ObjectType: AnyObject>: NSObject {
  let store: ObjectStore
  /// `nil` if it depends on the key. Retained by `store`.
  private let equivalence: Unmanaged<KeyEquivalence>?

  /// Creates an empty cache without limits.
  public override init() {
    let common = KeyEquivalence.common(to: KeyType.self)
    store = ObjectStore(keeping: common)
    equivalence = common.map(Unmanaged.passUnretained)
    super.init()
    // Delegates see every cache as one of any objects. That is the same object laid out alike, and
    // they reach it through virtual members, which know the true types.
    store.owner = .fromOpaque(Unmanaged.passUnretained(self).toOpaque())
  }

  /// What the cache is called, for people who debug it. Empty at first.
  open var name: String {
    get { store.settings.name }
    set { store.settings.name = newValue }
  }

  /// Is told of each object that leaves the cache. Not retained.
  open weak var delegate: (any ObjectCacheDelegate)? {
    get { store.settings.delegate }
    set { store.settings.delegate = newValue }
  }

  /// The most objects the cache may hold; 0, as at first, for no limit. Setting a lower one evicts
  /// what exceeds it before the setter returns.
  ///
  /// - Complexity: O(1), and O(1) for each object evicted.
  open var countLimit: Int {
    get { store.cache.countLimit }
    set { store.cache.countLimit = max(newValue, 0) }
  }

  /// The most the costs of the objects may sum up to; 0, as at first, for no limit. Setting a lower
  /// one evicts what exceeds it before the setter returns.
  ///
  /// - Complexity: O(1), and O(1) for each object evicted.
  open var totalCostLimit: Int {
    get { store.cache.totalCostLimit }
    set { store.cache.totalCostLimit = max(newValue, 0) }
  }

  /// Whether a lookup that finds an object whose content is discarded evicts it and returns `nil`.
  /// True at first, as on Apple's systems. Otherwise such an object is found like any other.
  open var evictsObjectsWithDiscardedContent: Bool {
    get { store.settings.evictsDiscarded }
    set { store.settings.evictsDiscarded = newValue }
  }

  /// The object stored for `key`, or `nil`. Counts as a use of it.
  ///
  /// - Complexity: O(1) on average, without a lock.
  open func object(forKey key: KeyType) -> ObjectType? {
    guard let object = store.object(for: identify(key)) else { return nil }
    return unsafeDowncast(object, to: ObjectType.self)
  }

  /// Stores an object at cost 0: ``setObject(_:forKey:cost:)``.
  open func setObject(_ obj: ObjectType, forKey key: KeyType) {
    setObject(obj, forKey: key, cost: 0)
  }

  /// Stores an object, replacing any earlier one of its key, and makes it the most recently used.
  ///
  /// What no longer fits is evicted before the call returns. The object that is stored for the key
  /// already may be given again, to change its cost: that evicts nothing.
  ///
  /// - Complexity: O(1) on average, and O(1) for each object evicted.
  open func setObject(_ obj: ObjectType, forKey key: KeyType, cost g: Int) {
    store.set(obj, for: identify(key), cost: max(g, 0))
  }

  /// Removes the object of `key`, if there is one.
  ///
  /// - Complexity: O(1) on average.
  open func removeObject(forKey key: KeyType) {
    store.cache.removeValue(forKey: identify(key))
  }

  /// Removes all objects, at one moment.
  ///
  /// - Complexity: O(*n*) to tell the delegate and release the objects; the lock is held for O(1).
  open func removeAllObjects() {
    store.cache.removeAll()
  }

  @inline(__always)
  private func identify(_ key: KeyType) -> ObjectKey {
    ObjectKey(key, equivalence ?? .passUnretained(KeyEquivalence.of(key)))
  }
}
