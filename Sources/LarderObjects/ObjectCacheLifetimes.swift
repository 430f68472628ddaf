// SPDX-License-Identifier: Apache-2.0
public import Larder

/// The lifetimes of the objects in an ``ObjectCache``: an addition, which `NSCache` does not have.
///
/// Like ``ObjectCacheContents``, these members are kept apart from the cache, so that subclasses
/// with such members of their own compile.
///
///     let images = ObjectCacheLifetimes.makeCache(expiration: .afterWrite(.seconds(600))) {
///       ObjectCache<NSURL, Image>()
///     }
///     ObjectCacheLifetimes(of: images).setObject(
///       image, forKey: address, cost: 0, lifetime: .seconds(5))
///
/// Any cache can be given lifetimes. One that ``makeCache(expiration:clock:_:)`` has made has room
/// for those of its expiration from the start. In any other the first one takes as long as storing
/// all objects anew, and these take more memory from then on; caches that nobody gives a lifetime
/// pay nothing. The delegate is told of an object that has expired, on any thread, as of one that
/// is evicted; not, however, once the cache is being released.
///
/// **Threads.** All members may be called from any thread, like those of the cache.
public struct ObjectCacheLifetimes<KeyType: AnyObject, ObjectType: AnyObject> {
  private let cache: ObjectCache<KeyType, ObjectType>
  private var contents: ObjectStore.Contents { cache.store.cache }

  /// Creates a view of a cache's lifetimes. Its members always answer for the present moment.
  public init(of cache: ObjectCache<KeyType, ObjectType>) { self.cache = cache }

  /// Makes a cache that has room for lifetimes from the start.
  ///
  /// - Parameters:
  ///   - expiration: When objects expire that are stored without a lifetime of their own.
  ///   - clock: What the cache takes the time from.
  ///   - make: Creates the cache, of this class or a subclass. The same holds for any other
  ///     ``ObjectCache`` that it creates meanwhile.
  public static func makeCache<Made: ObjectCache<KeyType, ObjectType>>(
    expiration: Expiration = .never, clock: CacheClock = .continuous, _ make: () throws -> Made
  ) rethrows -> Made {
    try ObjectExpiration.$pending.withValue(ObjectExpiration(rule: expiration, clock: clock)) {
      try make()
    }
  }

  /// How long objects stay after they were stored; `nil` for any time. A new value holds for what
  /// is stored already, too. See `Cache.expiration` about what was stored before the first
  /// lifetime.
  ///
  /// - Complexity: Like `Cache.expiration`.
  public var ageLimit: Duration? {
    get { contents.expiration.afterWrite }
    nonmutating set {
      cache.store.expectExpirations()
      contents.setExpiration(afterWrite: newValue)
    }
  }

  /// How long objects stay after they were last used; `nil` for any time. The first such limit
  /// takes as long as a first lifetime, unless the cache was made with one. Not every use is noted,
  /// so a shorter limit may end what was used a 64th of the former one ago. Otherwise like
  /// ``ageLimit``.
  public var idleLimit: Duration? {
    get { contents.expiration.afterAccess }
    nonmutating set {
      cache.store.expectExpirations()
      contents.setExpiration(afterAccess: newValue)
    }
  }

  /// Stores an object with a lifetime of its own, in place of ``ageLimit``. Otherwise like
  /// ``ObjectCache/setObject(_:forKey:cost:)``, except that subclasses cannot override it.
  ///
  /// An object whose lifetime is zero or less is not stored. Its key then has no value, and the
  /// delegate is told of the object as if it had been evicted.
  ///
  /// - Complexity: Like ``ObjectCache/setObject(_:forKey:cost:)``.
  public func setObject(
    _ object: ObjectType, forKey key: KeyType, cost: Int = 0, lifetime: Duration
  ) {
    cache.store.expectExpirations()
    cache.store.set(object, for: cache.identify(key), cost: max(cost, 0), lifetime: lifetime)
  }

  /// How long the object of `key` has to live if it is not used meanwhile; `nil` if there is none,
  /// or if it never expires. Does not count as a use.
  public func remainingLifetime(forKey key: KeyType) -> Duration? {
    contents.remainingLifetime(forKey: cache.identify(key))
  }

  /// Gives the object of `key` a lifetime of its own, counted from now. Returns whether there is an
  /// object.
  @discardableResult
  public func setLifetime(_ lifetime: Duration, forKey key: KeyType) -> Bool {
    cache.store.expectExpirations()
    return contents.setLifetime(lifetime, forKey: cache.identify(key))
  }

  /// Removes all objects that have expired, and returns how many there were. All of them leave by
  /// themselves within a second.
  @discardableResult
  public func removeExpiredObjects() -> Int { contents.removeExpired() }
}

/// What the caches that the current task makes are told of time.
struct ObjectExpiration: Sendable {
  @TaskLocal static var pending: ObjectExpiration?

  let rule: Expiration
  let clock: CacheClock
}
