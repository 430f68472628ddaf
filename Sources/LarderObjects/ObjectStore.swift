// SPDX-License-Identifier: Apache-2.0
import Foundation
import Larder
import Synchronization

/// The work of an ``ObjectCache``, without its type parameters. So it is compiled for the one pair
/// of types that it stores, and not for every cache.
final class ObjectStore {
  typealias Contents = Cache<ObjectKey, StoredObject>

  let cache: Contents
  let settings: ObjectCacheSettings
  private let expires: Bool
  private let observer: DepartureObserver
  /// Kept for the keys, which do not retain it.
  private let equivalence: KeyEquivalence?

  init(keeping equivalence: KeyEquivalence?) {
    self.equivalence = equivalence
    settings = ObjectCacheSettings()
    let observer = DepartureObserver(settings)
    self.observer = observer
    var options = Contents.Options()
    // Limits are set later, and costs are given with objects.
    options.expectsCosts = true
    let expiration = ObjectExpiration.pending
    options.expectsLifetimes = expiration != nil
    if let expiration { options.clock = expiration.clock }
    options.pressure = .ignore
    cache = Contents(
      policy: .lru, shards: 1,
      onRemoval: { key, value, _, cause in observer.observe(key, value, cause) },
      expiration: expiration?.rule ?? .never, options: options)
    observer.cache = cache
    expires = expiration != nil
  }

  /// The cache that the delegate gets to see.
  var owner: Unmanaged<ObjectCache<AnyObject, AnyObject>>? {
    get { observer.owner }
    set {
      observer.owner = newValue
      if expires { expectExpirations() }
    }
  }

  /// To be called before an object can expire.
  func expectExpirations() {
    guard observer.livingOwner.load() == nil, let owner else { return }
    _ = observer.livingOwner.storeIfNil(LivingOwner(owner.takeUnretainedValue()))
  }

  func object(for key: ObjectKey) -> AnyObject? {
    switch cache.value(forKey: key) {
    case .plain(let object): object
    case .discardable(let object): undiscarded(object, key)
    case nil: nil
    }
  }

  /// Returns `object` unless its content is gone. In that case evicts its entry, if that is still
  /// the one that was found.
  @inline(never)
  private func undiscarded(_ object: AnyObject, _ key: ObjectKey) -> AnyObject? {
    guard settings.evictsDiscarded, discardableContent(object)?.isContentDiscarded() == true
    else { return object }
    cache.removeValue(forKey: key) { $0.object === object }
    return nil
  }

  func set(_ object: AnyObject, for key: ObjectKey, cost: Int, lifetime: Duration? = nil) {
    let value = StoredObject(object)
    var old: StoredObject?
    let outcome =
      if let lifetime {
        cache.insert(value, forKey: key, cost: cost, expiresAfter: lifetime, replaced: &old)
      } else {
        cache.insert(value, forKey: key, cost: cost, replaced: &old)
      }
    if !outcome.isStored { observer.tell(value) }
    // An object that is stored once more under its own key has not left.
    if outcome == .replaced, let old, old.object !== object { observer.tell(old) }
  }
}

private final class LivingOwner: @unchecked Sendable {
  // Sendable: never changes, but when the cache goes.
  weak var cache: ObjectCache<AnyObject, AnyObject>?

  init(_ cache: ObjectCache<AnyObject, AnyObject>) { self.cache = cache }
}

/// Tells the delegate of each object that leaves, and discards its content. No lock is held.
private final class DepartureObserver: @unchecked Sendable {
  // Sendable: `settings` is, and all others are set before the cache is used.

  private let settings: ObjectCacheSettings
  /// Neither is retained. Both are alive while a member of the owner runs, and nobody else calls
  /// but the background thread, of objects that have expired.
  unowned(unsafe) var cache: ObjectStore.Contents!
  var owner: Unmanaged<ObjectCache<AnyObject, AnyObject>>?
  /// The same, for the background thread; only in caches whose objects expire.
  let livingOwner = AtomicLazyReference<LivingOwner>()

  init(_ settings: ObjectCacheSettings) { self.settings = settings }

  func observe(_ key: ObjectKey, _ value: StoredObject, _ cause: RemovalCause) {
    switch cause {
    case .expired: tellOfExpired(key, value)
    case .replaced: break  // whoever has stored the new object tells of the old one
    default: tell(value)
    }
  }

  /// Whether an object that had expired is stored under its own key once more, so that it has not
  /// left.
  private func isStoredAgain(_ key: ObjectKey, _ value: StoredObject) -> Bool {
    cache.current(key)?.object === value.object
  }

  private func tellOfExpired(_ key: ObjectKey, _ value: StoredObject) {
    let delegate = settings.delegate
    // Where nothing is done, the background thread does not look either: it would count as one more
    // thread that uses caches.
    if delegate == nil && !value.isDiscardable { return }
    if let owner = livingOwner.load()?.cache {
      // `owner` keeps `cache` alive, whoever calls.
      if withExtendedLifetime(owner, { isStoredAgain(key, value) }) { return }
      delegate?.cache(owner, willEvictObject: value.object)
    }
    value.discardIfPossible()
  }

  func tell(_ value: StoredObject) {
    if let delegate = settings.delegate, let owner {
      delegate.cache(owner.takeUnretainedValue(), willEvictObject: value.object)
    }
    value.discardIfPossible()
  }
}
