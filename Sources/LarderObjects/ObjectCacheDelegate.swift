// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Is told of the objects that leave an ``ObjectCache``.
///
/// The protocol has the shape of Foundation's `NSCacheDelegate`; code written for that one needs
///
///     typealias NSCacheDelegate = ObjectCacheDelegate
public protocol ObjectCacheDelegate: NSObjectProtocol {
  /// An object leaves the cache.
  ///
  /// It is called once for each object that was stored and is evicted, removed, replaced by
  /// another, or refused because it alone exceeds ``ObjectCache/totalCostLimit``; not for those
  /// that a cache still holds when it is released itself. It runs on the thread whose call made the
  /// object leave, after the cache has let go of it and before it is released, without any lock: it
  /// may call the cache, and store the object again.
  ///
  /// - Parameters:
  ///   - cache: The cache, as if its type said nothing about keys and values. Store only such
  ///     objects through it as its true type allows: nothing checks that.
  ///   - obj: The object. If it is discardable, its content is still there.
  func cache(_ cache: ObjectCache<AnyObject, AnyObject>, willEvictObject obj: Any)
}

extension ObjectCacheDelegate {
  /// Does nothing, as the method is optional on Apple's systems.
  public func cache(_ cache: ObjectCache<AnyObject, AnyObject>, willEvictObject obj: Any) {}
}
