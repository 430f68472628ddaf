// SPDX-License-Identifier: Apache-2.0
import Foundation
import LarderObjects

/// The members by which both caches are measured.
protocol Rival: AnyObject {
  associatedtype Key: AnyObject
  init()
  func object(forKey key: Key) -> Payload?
  func setObject(_ object: Payload, forKey key: Key, cost: Int)
  func removeAllObjects()
}

/// The stored object, one for each key.
final class Payload {
  let number: Int
  init(_ number: Int) { self.number = number }
}

/// Subclasses, so that one protocol covers both. Neither overrides anything.
final class FoundationCache<Key: AnyObject>: NSCache<Key, Payload>, Rival {}
final class LarderCache<Key: AnyObject>: ObjectCache<Key, Payload>, Rival {}
