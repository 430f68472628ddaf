// SPDX-License-Identifier: Apache-2.0
import Foundation
import LarderObjects
import LarderTestSupport

/// A class whose instances are the same key if they have the same number, through `Hashable`.
class NumberedKey: Hashable {
  let number: Int
  init(_ number: Int) { self.number = number }
  static func == (left: NumberedKey, right: NumberedKey) -> Bool { left.number == right.number }
  func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

final class DerivedKey: NumberedKey {}

/// The same through `NSObject`, all with one hash.
final class FoundationKey: NSObject {
  let number: Int
  init(_ number: Int) { self.number = number }
  override var hash: Int { 42 }
  override func isEqual(_ object: Any?) -> Bool { (object as? FoundationKey)?.number == number }
}

/// A class whose instances are each a key of their own.
class PlainKey {
  let number: Int
  init(_ number: Int) { self.number = number }
}

final class HashablePlainKey: PlainKey, Hashable {
  static func == (left: HashablePlainKey, right: HashablePlainKey) -> Bool {
    left.number == right.number
  }
  func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

/// A delegate that keeps what it is told, and may run an action.
final class Witness: NSObject, ObjectCacheDelegate {
  private(set) var evicted: [AnyObject] = []
  private(set) var caches: [ObjectCache<AnyObject, AnyObject>] = []
  var then: ((_ cache: ObjectCache<AnyObject, AnyObject>, _ object: AnyObject) -> Void)?

  func cache(_ cache: ObjectCache<AnyObject, AnyObject>, willEvictObject obj: Any) {
    let object = obj as AnyObject
    evicted.append(object)
    caches.append(cache)
    then?(cache, object)
  }

  func forget() {
    evicted = []
    caches = []
  }

  var payloads: [Int] { evicted.map { ($0 as? Tracked)?.payload ?? -1 } }
}

/// A key for each number, a new object at every call.
func string(_ number: Int) -> NSString { NSString(string: "https://example.com/\(number)") }

/// Whether removed objects are released down to `count`. The threads of other tests may delay that.
func settles<Key>(
  _ tracker: LifetimeTracker, at count: Int, _ cache: ObjectCache<Key, Tracked>
) -> Bool {
  waitUntil("\(count) objects are left") {
    ObjectCacheContents(of: cache).reclaim()
    return tracker.live <= count
  }
  return tracker.live == count
}
