// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A key that NSCache can hold. NSCache takes objects only, so its users box numbers and strings.
protocol ObjectKey {
  associatedtype Object: NSObject
  var object: Object { get }
}

extension UInt64: ObjectKey {
  var object: NSNumber { NSNumber(value: self) }
}

extension String: ObjectKey {
  var object: NSString { NSString(string: self) }
}

/// A value that NSCache can hold.
protocol ObjectValue {
  associatedtype Boxed: AnyObject
  var boxed: Boxed { get }
  static func number(in boxed: Boxed) -> UInt64
}

extension UInt64: ObjectValue {
  var boxed: NSNumber { NSNumber(value: self) }
  static func number(in boxed: NSNumber) -> UInt64 { boxed.uint64Value }
}

extension Payload: ObjectValue {
  var boxed: Payload { self }
  static func number(in boxed: Payload) -> UInt64 { boxed.number }
}

/// Foundation's NSCache with its limits. It receives costs only if the workload has some: without
/// costs an insertion into swift-corelibs-foundation's list, which is sorted by cost, stays O(1).
/// Its users pay for the boxing of keys and numbers, so the boxing is timed.
struct NSCacheRival<Key: RequestKey, Value: Measurable>: Rival, @unchecked Sendable {
  // Unchecked: NSCache is documented as thread-safe, but its declaration does not say so.
  private let cache = NSCache<Key.Object, Value.Boxed>()

  init(_ limits: Limits) {
    cache.countLimit = limits.capacity
    cache.totalCostLimit = limits.costLimit
  }

  @inline(__always)
  func read(_ key: Key) -> UInt64? { cache.object(forKey: key.object).map(Value.number(in:)) }

  @inline(__always)
  func put(_ value: Value, for key: Key) { cache.setObject(value.boxed, forKey: key.object) }

  @inline(__always)
  func put(_ value: Value, for key: Key, cost: Int) {
    cache.setObject(value.boxed, forKey: key.object, cost: cost)
  }
}
