// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A key that NSCache can hold: NSCache takes objects only, so its users box numbers and strings.
protocol ObjectKey: Hashable, Sendable {
  associatedtype Object: NSObject
  var object: Object { get }
}

extension UInt64: ObjectKey {
  var object: NSNumber { NSNumber(value: self) }
}

/// Foundation's NSCache with `countLimit` and without costs. Without costs an insertion into
/// swift-corelibs-foundation's list, which is sorted by cost, stays O(1); the boxing of keys is
/// part of what its users pay.
struct NSCacheRival<Key: ObjectKey, Value: AnyObject & Sendable>: Rival, @unchecked Sendable {
  // Unchecked: NSCache is documented as thread-safe, its declaration does not say so.
  private let cache = NSCache<Key.Object, Value>()

  init(capacity: Int) { cache.countLimit = capacity }

  @inline(__always)
  func get(_ key: Key) -> Value? { cache.object(forKey: key.object) }

  @inline(__always)
  func put(_ value: Value, for key: Key) { cache.setObject(value, forKey: key.object) }
}
