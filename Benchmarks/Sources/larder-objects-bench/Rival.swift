// SPDX-License-Identifier: Apache-2.0
import Foundation
import LarderObjects

/// What both caches are measured by.
protocol Rival: AnyObject {
  associatedtype Key: AnyObject
  init()
  func object(forKey key: Key) -> Payload?
  func setObject(_ object: Payload, forKey key: Key, cost: Int)
  func removeAllObjects()
}

/// The object that is stored, one for each key.
final class Payload {
  let number: Int
  init(_ number: Int) { self.number = number }
}

/// Subclasses, so that one protocol covers both; neither overrides anything.
final class FoundationCache<Key: AnyObject>: NSCache<Key, Payload>, Rival {}
final class LarderCache<Key: AnyObject>: ObjectCache<Key, Payload>, Rival {}
