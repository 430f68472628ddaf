// SPDX-License-Identifier: Apache-2.0
import Foundation
import Larder

/// What makes two key objects the same key. Which of these a cache uses follows from its key type,
/// or, if that type leaves it open, from the class of each key.
///
///     NSString (not on Apple's systems)  the text, as its `isEqual(_:)` compares it
///     other subclasses of NSObject       isEqual(_:) and hash
///     other classes, if Hashable         == and hash(into:)
///     all other classes                  identity
///
/// An object is always the same key as itself, whatever its `==` says. Keys that use different
/// equivalences are different.
package class KeyEquivalence: @unchecked Sendable {
  // Sendable: no subclass has state.

  fileprivate init() {}

  func areEqual(_ left: AnyObject, _ right: AnyObject) -> Bool { left === right }

  /// A hash with a secret seed. Callers mix the result once more, so the seed may simply be added.
  package func hash(_ key: AnyObject, seed: Int) -> Int {
    UInt(bitPattern: ObjectIdentifier(key)).mixed(seed)
  }

  static let identity = KeyEquivalence()
  static let foundation: KeyEquivalence = FoundationEquivalence()
  static let anyHashable: KeyEquivalence = AnyHashableEquivalence()

  /// The equivalence of all keys of type `KeyType`, or `nil` if it depends on the key.
  static func common<KeyType: AnyObject>(to type: KeyType.Type) -> KeyEquivalence? {
    #if !canImport(ObjectiveC)
      if type is NSString.Type { return TextEquivalence.shared }
      if NSString.self is KeyType.Type { return nil }
    #endif
    if type is NSObject.Type { return foundation }
    guard let hashable = type as? any Hashable.Type else { return nil }
    return make(hashable)
  }

  private static func make<Key: Hashable>(_ type: Key.Type) -> KeyEquivalence {
    HashableEquivalence<Key>()
  }

  /// The equivalence of a key of this class.
  package static func of(_ key: AnyObject) -> KeyEquivalence {
    #if !canImport(ObjectiveC)
      if key is NSString { return TextEquivalence.shared }
    #endif
    if key is NSObject { return foundation }
    if key is any Hashable { return anyHashable }
    return identity
  }
}

#if !canImport(ObjectiveC)
  /// Compares strings by their text. Foundation's methods do the same, by detours that take most of
  /// the time of a lookup.
  private final class TextEquivalence: KeyEquivalence, @unchecked Sendable {
    static let shared: KeyEquivalence = TextEquivalence()

    override func areEqual(_ left: AnyObject, _ right: AnyObject) -> Bool {
      Self.text(left) == Self.text(right)
    }

    private static let seed1 = UInt64.random(in: .min ... .max)

    override func hash(_ key: AnyObject, seed: Int) -> Int {
      let secret = UInt64(truncatingIfNeeded: seed)
      let hasher = KeyHasher<String>(seed0: secret, seed1: Self.seed1)
      return Int(truncatingIfNeeded: hasher.hash(Self.text(key)))
    }

    private static func text(_ key: AnyObject) -> String {
      var text: String?
      _ = borrowing(key, as: NSString.self) {
        String._conditionallyBridgeFromObjectiveC($0, result: &text)
      }
      return text ?? ""
    }
  }
#endif

private final class FoundationEquivalence: KeyEquivalence, @unchecked Sendable {
  override func areEqual(_ left: AnyObject, _ right: AnyObject) -> Bool {
    // For objects of exactly this class, this shorter way gives the same answer.
    if type(of: left) == NSNumber.self && type(of: right) == NSNumber.self {
      return borrowing(left, as: NSNumber.self) { left in
        borrowing(right, as: NSNumber.self) { left.isEqual(to: $0) }
      }
    }
    #if !canImport(ObjectiveC)
      // There isEqual(_:) reads beyond the end of the shorter text.
      if let left = left as? NSAttributedString, let right = right as? NSAttributedString,
        left.length != right.length
      {
        return false
      }
    #endif
    return borrowing(left, as: NSObject.self) { $0.isEqual(right) }
  }

  /// Foundation's own hashes ignore most of what some objects hold, which makes it easy to find
  /// keys that collide. Of these, everything is hashed. Equal objects stay equal in all of it.
  override func hash(_ key: AnyObject, seed: Int) -> Int {
    if type(of: key) == NSNumber.self {
      return borrowing(key, as: NSNumber.self) { Self.hash($0, seed) }
    }
    #if !canImport(ObjectiveC)
      if let number = key as? NSDecimalNumber {
        return Self.hash(FoundationContent.plain(number), seed)
      }
    #endif
    guard FoundationContent.isIn(key) else {
      return UInt(bitPattern: borrowing(key, as: NSObject.self) { $0.hash }).mixed(seed)
    }
    var hasher = Hasher()
    hasher.combine(seed)
    FoundationContent.combine(key, into: &hasher, depth: 0)
    return hasher.finalize()
  }

  private static func hash(_ number: NSNumber, _ seed: Int) -> Int {
    let bits = FoundationContent.bits(number)
    return (bits != 0 ? UInt(truncatingIfNeeded: bits) : UInt(bitPattern: number.hash)).mixed(seed)
  }
}

/// For key types that are `Hashable` themselves: all subclasses compare by the same `==`.
private final class HashableEquivalence<Key: Hashable>: KeyEquivalence, @unchecked Sendable {
  override func areEqual(_ left: AnyObject, _ right: AnyObject) -> Bool {
    Self.key(left) == Self.key(right)
  }

  override func hash(_ key: AnyObject, seed: Int) -> Int {
    StandardLibrary.hash(Self.key(key), seed: seed)
  }

  private static func key(_ object: AnyObject) -> Key { unsafeBitCast(object, to: Key.self) }
}

/// For `Hashable` objects in a cache whose key type says nothing, such as `AnyObject`.
private final class AnyHashableEquivalence: KeyEquivalence, @unchecked Sendable {
  override func areEqual(_ left: AnyObject, _ right: AnyObject) -> Bool {
    Self.key(left) == Self.key(right)
  }

  override func hash(_ key: AnyObject, seed: Int) -> Int {
    StandardLibrary.hash(Self.key(key), seed: seed)
  }

  private static func key(_ object: AnyObject) -> AnyHashable { object as! AnyHashable }
}

/// Uses `object` as an instance of `type`, which it is, without the retain of a plain cast.
@inline(__always)
private func borrowing<Object: AnyObject, Result>(
  _ object: AnyObject, as type: Object.Type, _ body: (Object) -> Result
) -> Result {
  Unmanaged<Object>.fromOpaque(Unmanaged.passUnretained(object).toOpaque())
    ._withUnsafeGuaranteedRef(body)
}

extension UInt {
  /// Spreads over all bits a word that others hashed, perhaps badly.
  fileprivate func mixed(_ seed: Int) -> Int {
    let odd = UInt(truncatingIfNeeded: 0x9E37_79B9_7F4A_7C15 as UInt64)
    let product = (self ^ UInt(bitPattern: seed)).multipliedFullWidth(by: odd)
    return Int(bitPattern: product.high ^ product.low)
  }
}
