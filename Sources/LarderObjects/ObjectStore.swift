// SPDX-License-Identifier: Apache-2.0
import Foundation
import Larder

/// What an ``ObjectCache`` does, without its type parameters, so that it is compiled for the one
/// pair of types it stores and not for all.
final class ObjectStore {
  typealias Contents = Cache<ObjectKey, StoredObject>

  let cache: Contents
  let settings: ObjectCacheSettings
  private let observer: DepartureObserver
  /// Kept for the keys, which do not retain it.
  private let equivalence: KeyEquivalence?

  init(keeping equivalence: KeyEquivalence?) {
    self.equivalence = equivalence
    settings = ObjectCacheSettings()
    let observer = DepartureObserver(settings)
    self.observer = observer
    cache = Contents(policy: .lru, shards: 1) { key, value, _, cause in
      observer.observe(key, value, cause)
    }
    observer.cache = cache
  }

  /// The cache that the delegate gets to see.
  var owner: Unmanaged<ObjectCache<AnyObject, AnyObject>>? {
    get { observer.owner }
    set { observer.owner = newValue }
  }

  func object(for key: ObjectKey) -> AnyObject? {
    switch cache.value(forKey: key) {
    case .plain(let object): object
    case .discardable(let object): undiscarded(object, key)
    case nil: nil
    }
  }

  /// `object`, unless its content is gone: then its entry is evicted, if it still is what was
  /// found.
  @inline(never)
  private func undiscarded(_ object: AnyObject, _ key: ObjectKey) -> AnyObject? {
    guard settings.evictsDiscarded, discardableContent(object)?.isContentDiscarded() == true
    else { return object }
    cache.removeValue(forKey: key) { $0.object === object }
    return nil
  }

  func set(_ object: AnyObject, for key: ObjectKey, cost: Int) {
    let value = StoredObject(object)
    if !cache.insert(value, forKey: key, cost: cost).isStored { observer.tell(value) }
  }
}

/// Tells the delegate, and discards content, whenever an object leaves. No lock is held then.
private final class DepartureObserver: @unchecked Sendable {
  // Sendable: `settings` is; the other two are set before the cache is used.

  private let settings: ObjectCacheSettings
  /// Neither is retained: both are alive while a member of the owner runs, and nobody else calls.
  unowned(unsafe) var cache: ObjectStore.Contents!
  var owner: Unmanaged<ObjectCache<AnyObject, AnyObject>>?

  init(_ settings: ObjectCacheSettings) { self.settings = settings }

  func observe(_ key: ObjectKey, _ value: StoredObject, _ cause: RemovalCause) {
    // An object stored again under its own key has not left.
    if cause == .replaced, cache.peek(forKey: key)?.object === value.object { return }
    tell(value)
  }

  func tell(_ value: StoredObject) {
    if let delegate = settings.delegate, let owner {
      delegate.cache(owner.takeUnretainedValue(), willEvictObject: value.object)
    }
    value.discardIfPossible()
  }
}
