// SPDX-License-Identifier: Apache-2.0
import Foundation
import LarderObjects
import LarderTestSupport
import Testing

/// Which keys find each other, for every way in which objects can be equal.
@Suite("Object keys")
struct ObjectKeyTests {
  /// Whether `other` finds what is stored for `key`, in a cache whose key type is `Key`.
  private func finds<Key: AnyObject>(_ key: Key, _ other: Key) -> Bool {
    let cache = ObjectCache<Key, NSNumber>()
    cache.setObject(1, forKey: key)
    guard cache.object(forKey: key) == 1 else { return false }
    return cache.object(forKey: other) == 1
  }

  /// The same, whether or not the key type tells what the keys are.
  private func findsEach<Key: AnyObject>(_ key: Key, _ other: Key) -> Set<Bool> {
    [finds(key, other), finds(key as AnyObject, other as AnyObject)]
  }

  @Test("Equal strings find each other, whatever their class and length")
  func equalStrings() {
    for text in ["", "a", "fifteen letters", String(repeating: "long ", count: 100), "naïve ☕️"] {
      let key = NSString(string: text)
      #expect(findsEach(key, NSString(string: text)) == [true])
      #expect(findsEach(key, NSMutableString(string: text)) == [true])
      #expect(findsEach(NSMutableString(string: text), NSString(string: text)) == [true])
      #expect(finds(key as NSObject, NSString(string: text) as NSObject))
      #expect(findsEach(key, NSString(string: text + "!")) == [false])
    }
  }

  @Test("Strings are the same key exactly when Foundation says that they are equal")
  func stringsAsFoundation() {
    let texts = [
      "é", "e\u{301}", "K", "\u{212A}", ";", "\u{37E}", "ﬁ", "fi", "한", "\u{1112}\u{1161}\u{11AB}",
      "a\u{0}b", "a", "a\u{0}",
    ]
    for left in texts {
      for right in texts {
        let (left, right) = (NSString(string: left), NSString(string: right))
        #expect(finds(left, right) == left.isEqual(right), "\(left) \(right)")
      }
    }
  }

  @Test("Numbers are the same key exactly when Foundation says that they are equal")
  func numbersAsFoundation() {
    let numbers: [NSNumber] = [
      0, 1, -1, NSNumber(value: true), NSNumber(value: false), NSNumber(value: 1.0),
      NSNumber(value: 1.5), NSNumber(value: -0.0), NSNumber(value: Float(1.5)),
      NSNumber(value: Int.max), NSNumber(value: UInt.max), NSNumber(value: Int.min),
      NSNumber(value: Double.infinity), NSNumber(value: Double(Int.max)), NSNumber(value: UInt8(1)),
      NSNumber(value: Double.nan), NSNumber(value: Float.nan),
    ]
    for left in numbers {
      for right in numbers where left.hash == right.hash {
        let equal = left === right || left.isEqual(right)
        // For some numbers Foundation's equality depends on which one is asked.
        guard right === left || right.isEqual(left) == equal else { continue }
        #expect(findsEach(left, right) == [equal], "\(type(of: left)) \(left) \(right)")
      }
    }
    let copy = NSNumber(value: 123_456)
    #expect(findsEach(copy, NSNumber(value: 123_456)) == [true])
  }

  @Test("Objects of NSObject's subclasses are compared by isEqual, even with equal hashes")
  func foundationObjects() {
    #expect(findsEach(FoundationKey(1), FoundationKey(1)) == [true])
    #expect(findsEach(FoundationKey(1), FoundationKey(2)) == [false])
    #expect(findsEach(NSObject(), NSObject()) == [false])
    #expect(findsEach([1, 2] as NSArray, [1, 2] as NSArray) == [true])
    let cache = ObjectCache<FoundationKey, NSNumber>()
    for number in 0..<200 {
      cache.setObject(number as NSNumber, forKey: FoundationKey(number))
    }
    for number in 0..<200 {
      #expect(cache.object(forKey: FoundationKey(number)) == number as NSNumber)
    }
    cache.removeObject(forKey: FoundationKey(100))
    #expect(ObjectCacheContents(of: cache).count == 199)
  }

  @Test("Hashable classes are compared by ==, through subclasses too")
  func hashableObjects() {
    #expect(findsEach(NumberedKey(1), NumberedKey(1)) == [true])
    #expect(findsEach(NumberedKey(1), DerivedKey(1)) == [true])
    #expect(findsEach(DerivedKey(1), DerivedKey(1)) == [true])
    #expect(findsEach(NumberedKey(1), NumberedKey(2)) == [false])
    #expect(finds(HashablePlainKey(1) as PlainKey, HashablePlainKey(1) as PlainKey))
    #expect(!finds(HashablePlainKey(1) as PlainKey, PlainKey(1)))
  }

  @Test("Other classes are compared by identity")
  func plainObjects() {
    let key = PlainKey(1)
    #expect(findsEach(key, key) == [true])
    #expect(findsEach(key, PlainKey(1)) == [false])
  }

  @Test("Keys of all kinds may live in one cache")
  func mixedKeys() {
    let cache = ObjectCache<AnyObject, NSNumber>()
    let plain = PlainKey(1)
    cache.setObject(1, forKey: NSNumber(value: 1))
    cache.setObject(2, forKey: "1" as NSString)
    cache.setObject(3, forKey: NumberedKey(1))
    cache.setObject(4, forKey: plain)
    cache.setObject(5, forKey: FoundationKey(1))
    #expect(cache.object(forKey: NSNumber(value: 1)) == 1)
    #expect(cache.object(forKey: NSMutableString(string: "1")) == 2)
    #expect(cache.object(forKey: DerivedKey(1)) == 3)
    #expect(cache.object(forKey: plain) == 4)
    #expect(cache.object(forKey: FoundationKey(1)) == 5)
    #expect(ObjectCacheContents(of: cache).count == 5)
  }

  @Test("NSNull, an empty string and a boxed nil are keys and objects like others")
  func nullAsKeyAndObject() {
    let cache = ObjectCache<AnyObject, AnyObject>()
    let missing: NSString? = nil
    let null = NSNull()
    cache.setObject(null, forKey: null)
    cache.setObject("empty" as NSString, forKey: "" as NSString)
    cache.setObject(missing as AnyObject, forKey: "missing" as NSString)
    #expect(cache.object(forKey: null) === null)
    #expect(cache.object(forKey: "" as NSString) as? NSString == "empty")
    #expect(cache.object(forKey: "missing" as NSString) != nil)
    cache.removeObject(forKey: NSObject())
    #expect(ObjectCacheContents(of: cache).count == 3)
  }

  @Test("An object finds itself, even if it says that it does not equal itself")
  func notReflexive() {
    final class Odd: NSObject {
      override func isEqual(_ object: Any?) -> Bool { false }
    }
    let key = Odd()
    #expect(findsEach(key, key) == [true])
  }

  @Test("A replacement keeps the new key, so that the old one is free to change")
  func replacedKey() {
    let cache = ObjectCache<NSString, NSNumber>()
    let old = NSMutableString(string: "key")
    let new = NSString(string: "key")
    cache.setObject(1, forKey: old)
    cache.setObject(2, forKey: new)
    #expect(ObjectCacheContents(of: cache).allKeys.first === new)
    old.append("!")
    #expect(cache.object(forKey: "key") == 2)
    #expect(cache.object(forKey: "key!") == nil)
  }

  @Test("Keys are retained once while they are stored, not copied")
  func keysAreRetainedOnce() async {
    await #expect(processExitsWith: .success) {
      let cache = ObjectCache<PlainKey, PlainKey>()
      // Retained by hand, so that no variable adds retains of its own.
      let key = Unmanaged.passRetained(PlainKey(1))
      let object = Unmanaged.passRetained(PlainKey(2))
      @inline(never) func counts() -> [UInt] {
        [key, object].map { $0._withUnsafeGuaranteedRef { _getRetainCount($0) } }
      }
      let before = counts()
      cache.setObject(object.takeUnretainedValue(), forKey: key.takeUnretainedValue())
      precondition(counts() == before.map { $0 + 1 }, "one retain each: \(before) \(counts())")
      for _ in 0..<10 {
        precondition(
          cache.object(forKey: key.takeUnretainedValue()) === object.takeUnretainedValue())
      }
      precondition(counts() == before.map { $0 + 1 }, "lookups retain for the caller only")
      let keys = ObjectCacheContents(of: cache).allKeys.map { ObjectIdentifier($0) }
      precondition(keys == [ObjectIdentifier(key.takeUnretainedValue())], "the key itself")
      cache.removeObject(forKey: key.takeUnretainedValue())
      precondition(counts() == before, "one release each")
    }
  }
}
