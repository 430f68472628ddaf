// SPDX-License-Identifier: Apache-2.0
public import Foundation
import Larder

/// A cache of objects with the members of Foundation's `NSCache`, on Larder's core.
///
/// Code written for `NSCache` compiles with these three lines, and keeps its meaning:
///
///     import LarderObjects
///     typealias NSCache = ObjectCache
///     typealias NSCacheDelegate = ObjectCacheDelegate
///
/// What `NSCache` leaves open is settled here:
///
/// - **Order.** The least recently used object is evicted first, exactly (the policy
///   `EvictionPolicy.lru` with one shard), so the newest object always stays. `NSCache` has been
///   seen to do the same on Apple's systems, and does the opposite on Linux.
/// - **Limits** hold when a call returns, and lowering a limit trims at once. 0 means no limit.
///   Negative limits and costs count as 0. Sums of costs do not overflow.
/// - **An object that alone exceeds the cost limit** is not stored. Its key then has no value, all
///   other objects stay, and the delegate is told of the object as if it had been evicted.
/// - **Keys** are retained, not copied, and what makes them equal must not change. Keys that are
///   `NSObject`s are compared with `isEqual(_:)`, other classes with `==` if they are `Hashable`,
///   and by identity otherwise.
/// - **Memory pressure** removes nothing, nor does an app's move to the background.
///
/// **Threads.** Every member may be called from any thread at any time. A hit takes no lock.
/// ``delegate``, ``name`` and ``evictsObjectsWithDiscardedContent`` have a lock of their own. The
/// type is not `Sendable`, because it cannot know whether its keys, objects and delegate are. The
/// typed `Cache` is `Sendable`.
///
/// **Release.** Objects are released without a lock, and their `deinit` may use the cache. So may
/// the delegate. A key's `isEqual(_:)` or `==` must not: it may run under the cache's lock. While
/// only one thread of the process uses caches, an object is released before the call that removed
/// it returns. Otherwise it is released soon after no thread is looking it up.
///
/// **Subclasses** may override every member. ``setObject(_:forKey:)`` calls
/// ``setObject(_:forKey:cost:)``. No other member calls another.
///
/// Complexities count one step for hashing or comparing a key.
open class ObjectCache<KeyType: AnyObject, ObjectType: AnyObject>: NSObject {
  let store: ObjectStore
  /// `nil` if it depends on the key. `store` retains it.
  private let equivalence: Unmanaged<KeyEquivalence>?

  /// Creates an empty cache without limits.
  public override init() {
    let common = KeyEquivalence.common(to: KeyType.self)
    store = ObjectStore(keeping: common)
    equivalence = common.map(Unmanaged.passUnretained)
    super.init()
    // Delegates see every cache as a cache of `AnyObject`s. That is the same object with the same
    // layout, and they reach it through virtual members, which know the true types.
    store.owner = .fromOpaque(Unmanaged.passUnretained(self).toOpaque())
    MemoryPressure.followApplicationIfAny()
  }

  /// A name for people who debug the cache. Empty at first.
  open var name: String {
    get { store.settings.name }
    set { store.settings.name = newValue }
  }

  /// The object that is told of each object that leaves the cache. Not retained.
  open weak var delegate: (any ObjectCacheDelegate)? {
    get { store.settings.delegate }
    set { store.settings.delegate = newValue }
  }

  /// The most objects the cache may hold; 0, the initial value, for no limit. Setting a lower limit
  /// evicts the excess before the setter returns.
  ///
  /// - Complexity: O(1), plus O(1) for each object evicted.
  open var countLimit: Int {
    get { store.cache.countLimit }
    set { store.cache.countLimit = max(newValue, 0) }
  }

  /// The most that the costs of all objects may add up to; 0, the initial value, for no limit.
  /// Setting a lower limit evicts the excess before the setter returns.
  ///
  /// - Complexity: O(1), plus O(1) for each object evicted.
  open var totalCostLimit: Int {
    get { store.cache.totalCostLimit }
    set { store.cache.totalCostLimit = max(newValue, 0) }
  }

  /// Whether a lookup that finds an object whose content was discarded evicts the object and
  /// returns `nil`. True at first, as on Apple's systems. If false, a lookup finds such an object
  /// like any other.
  open var evictsObjectsWithDiscardedContent: Bool {
    get { store.settings.evictsDiscarded }
    set { store.settings.evictsDiscarded = newValue }
  }

  /// Returns the object stored for `key`, or `nil`. Counts as a use of the object.
  ///
  /// - Complexity: O(1) on average, without a lock, but for discardable content.
  open func object(forKey key: KeyType) -> ObjectType? {
    guard let object = store.object(for: identify(key)) else { return nil }
    return unsafeDowncast(object, to: ObjectType.self)
  }

  /// Stores an object at cost 0; see ``setObject(_:forKey:cost:)``.
  open func setObject(_ obj: ObjectType, forKey key: KeyType) {
    setObject(obj, forKey: key, cost: 0)
  }

  /// Stores an object, replacing any earlier one of its key, and makes it the most recently used.
  ///
  /// Objects that no longer fit are evicted before the call returns. To change an object's cost,
  /// store it again under its key: that does not count as its eviction.
  ///
  /// - Complexity: O(1) on average, plus O(1) for each object evicted.
  open func setObject(_ obj: ObjectType, forKey key: KeyType, cost g: Int) {
    store.set(obj, for: identify(key), cost: max(g, 0))
  }

  /// Removes the object stored for `key`, if there is one.
  ///
  /// - Complexity: O(1) on average.
  open func removeObject(forKey key: KeyType) {
    store.cache.removeValue(forKey: identify(key))
  }

  /// Removes all objects at the same moment.
  ///
  /// - Complexity: O(*n*) to tell the delegate and release the objects. The lock is held for O(1).
  open func removeAllObjects() {
    store.cache.removeAll()
  }

  @inline(__always)
  final func identify(_ key: KeyType) -> ObjectKey {
    ObjectKey(key, equivalence ?? .passUnretained(KeyEquivalence.of(key)))
  }
}
