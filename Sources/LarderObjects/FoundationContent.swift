// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What the objects of some classes hold, for hashing: all that `isEqual(_:)` compares. Other
/// objects have only their own `hash`.
enum FoundationContent {
  /// Containers inside each other of which the content is hashed.
  private static let depthMost = 8

  /// Whether the object has content that is hashed here.
  static func isIn(_ object: AnyObject) -> Bool {
    object is NSData || object is NSDate || object is NSArray || object is NSDictionary
      || object is NSSet || object is NSURL || object is NSNull || object is NSOrderedSet
      || object is NSAttributedString
  }

  /// The number to ask for its hash in place of one. Off Apple's systems that of an
  /// `NSDecimalNumber` calls itself without end, and `isEqual(_:)` compares it with other numbers
  /// by its double.
  static func plain(_ number: NSNumber) -> NSNumber {
    #if canImport(ObjectiveC)
      return number
    #else
      return number is NSDecimalNumber ? NSNumber(value: number.doubleValue) : number
    #endif
  }

  /// What a number's own hash leaves out: the value of one that no integer type holds. Those that
  /// one holds may equal others of another value, such as -1 and `UInt.max`.
  static func bits(_ number: NSNumber) -> UInt64 {
    let value = number.doubleValue
    return value.isFinite && abs(value) >= 0x1p65 ? value.bitPattern : 0
  }

  static func combine(_ object: AnyObject, into hasher: inout Hasher, depth: Int) {
    switch object {
    case let data as NSData:
      hasher.combine(bytes: UnsafeRawBufferPointer(start: data.bytes, count: data.length))
    case let date as NSDate:
      hasher.combine(date.timeIntervalSinceReferenceDate)
    case let text as NSString:
      // Equal texts may be written differently, which the hash of `String` knows.
      hasher.combine(text as String)
    case let text as NSAttributedString:
      hasher.combine(text.string)
      #if !canImport(ObjectiveC)
        // So that those in containers do not meet either: see `FoundationEquivalence`.
        hasher.combine(text.length)
      #endif
    case let url as NSURL:
      hasher.combine(url.relativeString)
      if let base = url.baseURL { hasher.combine(base.absoluteString) }
    case is NSNull:
      hasher.combine(0)
    case let number as NSNumber:
      let plain = plain(number)
      hasher.combine(bits(plain))
      hasher.combine(plain.hash)
    case let array as NSArray:
      hasher.combine(array.count)
      if depth == depthMost { return }
      for index in 0..<array.count {
        combine(array.object(at: index) as AnyObject, into: &hasher, depth: depth + 1)
      }
    case let table as NSDictionary:
      combine(sum(table.allKeys, depth) { table.object(forKey: $0) }, into: &hasher)
    case let set as NSOrderedSet:
      // Off Apple's systems isEqual(_:) passes over some elements.
      hasher.combine(set.count)
    case let set as NSSet:
      combine(sum(set.allObjects, depth) { _ in nil }, into: &hasher)
    case let other as NSObject:
      hasher.combine(other.hash)
    default:
      break
    }
  }

  private static func combine(_ sum: Int, into hasher: inout Hasher) { hasher.combine(sum) }

  /// A sum over elements that have no order. `Hasher` is seeded for each process, so nobody can
  /// choose elements for their sum.
  private static func sum(_ elements: [Any], _ depth: Int, _ other: (Any) -> Any?) -> Int {
    if depth == depthMost { return elements.count }
    return elements.reduce(elements.count) { sum, element in
      var hasher = Hasher()
      combine(element as AnyObject, into: &hasher, depth: depth + 1)
      if let other = other(element) { combine(other as AnyObject, into: &hasher, depth: depth + 1) }
      return sum &+ hasher.finalize()
    }
  }
}
