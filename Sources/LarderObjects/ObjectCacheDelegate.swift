// SPDX-License-Identifier: Apache-2.0
import Foundation

/// An object that is told of each object that leaves an ``ObjectCache``.
///
/// The protocol has the shape of Foundation's `NSCacheDelegate`. Code written for that needs this
/// line:
///
///     typealias NSCacheDelegate = ObjectCacheDelegate
public protocol ObjectCacheDelegate: NSObjectProtocol {
  /// An object leaves the cache.
  ///
  /// The method is called once for each stored object that is evicted, removed or replaced by
  /// another, or expires, and for each object that is refused: because it alone exceeds
  /// ``ObjectCache/totalCostLimit``, has no time to live, or finds no memory. It is not called for
  /// objects that a cache still holds when it is itself released.
  ///
  /// It runs on the thread whose call made the object leave, and for what has expired on any
  /// thread, without any lock. At that time the cache has let go of the object, which is not yet
  /// released. The method may use the cache, and may store the object again. A discardable object
  /// needs `beginContentAccess()` for that: content that nobody uses is discarded when the method
  /// returns.
  ///
  /// An object that is stored over itself, and refused then, leaves twice: it is told twice.
  ///
  /// - Parameters:
  ///   - cache: The cache, as if its type said nothing about keys and values. Compare it by `===`:
  ///     casts to its true type fail. Store only objects that its true type allows, because nothing
  ///     checks that.
  ///   - obj: The object. If it is discardable, its content is still there, unless it leaves
  ///     because that is gone, or leaves twice.
  func cache(_ cache: ObjectCache<AnyObject, AnyObject>, willEvictObject obj: Any)
}

extension ObjectCacheDelegate {
  /// Does nothing, because the method is optional on Apple's systems.
  public func cache(_ cache: ObjectCache<AnyObject, AnyObject>, willEvictObject obj: Any) {}
}
