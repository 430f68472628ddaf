// SPDX-License-Identifier: Apache-2.0
import Foundation
import Larder
import LarderObjects
import LarderTestSupport
import Testing

/// Keys chosen so that Foundation's own hashes of them are equal.
@Suite("Keys of Foundation's classes do not collide at will")
struct KeyFloodTests {
  static func differentHashes(_ keys: [AnyObject]) -> Int {
    Set(keys.map { KeyEquivalence.of($0).hash($0, seed: 42) }).count
  }

  @Test("All of what they hold is hashed")
  func content() {
    let prefix = Data(repeating: 7, count: 80)
    let numbers = 0..<200
    let data = numbers.map { NSData(data: prefix + Data("\($0)".utf8) + prefix) }
    #expect(Self.differentHashes(data) == 200)
    #expect(Self.differentHashes(numbers.map { NSNumber(value: Double($0) * 0x1p66) }) == 200)
    #expect(Self.differentHashes(numbers.map { NSArray(array: [NSNumber(value: $0)]) }) == 200)
    let tables = numbers.map { NSDictionary(dictionary: ["a" as NSString: NSNumber(value: $0)]) }
    #expect(Self.differentHashes(tables) == 200)
    let dates = numbers.map { NSDate(timeIntervalSinceReferenceDate: Double($0) * 0x1p64) }
    #expect(Self.differentHashes(dates) == 200)
    let middle = String(repeating: "x", count: 200)
    let texts = numbers.map { "http://host/\(middle)\($0)\(middle)" }
    #expect(Self.differentHashes(texts.map { NSURL(string: $0)! }) == 200)
    #expect(Self.differentHashes(texts.map { NSArray(array: [$0 as NSString]) }) == 200)
  }

  @Test("Equal keys have equal hashes")
  func equalKeys() {
    let pairs: [(NSObject, NSObject)] = [
      (NSNumber(value: 1), NSNumber(value: 1.0)), (NSNumber(value: true), NSNumber(value: 1)),
      (NSNumber(value: 0.0), NSNumber(value: -0.0)),
      (NSNumber(value: Int64.max), NSNumber(value: UInt64(Int64.max))),
      (NSData(data: Data([1, 2])), NSMutableData(data: Data([1, 2]))),
      (NSArray(array: [NSNumber(value: 1)]), NSMutableArray(array: [NSNumber(value: 1.0)])),
      (
        NSSet(array: [NSNumber(value: 1), NSNumber(value: 2)]),
        NSSet(array: [NSNumber(value: 2), NSNumber(value: 1)])
      ),
      (
        NSDictionary(dictionary: ["a" as NSString: NSNumber(value: 1)]),
        NSMutableDictionary(dictionary: ["a" as NSString: NSNumber(value: 1)])
      ),
    ]
    let equal = pairs.filter { $0.isEqual($1) }
    #expect(equal.count == pairs.count)
    for (left, right) in equal {
      #expect(Self.differentHashes([left, right]) == 1, "\(left)")
      #expect(left.hash == right.hash)
    }
  }

  /// The first of each pair may hash differently by itself, or not at all.
  @Test("Equal keys have equal hashes whatever Foundation's are")
  func equalKeysOfOddHashes() {
    let composed = "\u{e9}" as NSString
    let decomposed = "e\u{301}" as NSString
    let large = NSDecimalNumber(string: "12345678901234567890123")
    let pairs: [(NSObject, NSObject)] = [
      (NSArray(array: [composed]), NSArray(array: [decomposed])),
      (NSSet(array: [composed]), NSSet(array: [decomposed])),
      (
        NSDictionary(dictionary: ["a" as NSString: composed]),
        NSDictionary(dictionary: ["a" as NSString: decomposed])
      ),
      (NSArray(array: [NSNull()]), NSArray(array: [NSNull()])), (NSNull(), NSNull()),
      (NSAttributedString(string: "a"), NSMutableAttributedString(string: "a")),
      (NSOrderedSet(array: [1, 2]), NSMutableOrderedSet(array: [1, 2])),
      (
        NSURL(string: "b?c", relativeTo: URL(string: "http://a/"))!,
        NSURL(string: "b?c", relativeTo: URL(string: "http://a/"))!
      ),
      (NSArray(array: [large]), NSArray(array: [NSDecimalNumber(decimal: large.decimalValue)])),
      (NSArray(array: [large]), NSArray(array: [NSNumber(value: large.doubleValue)])),
      (large, NSNumber(value: large.doubleValue)),
      (NSDecimalNumber(string: "0.1"), NSNumber(value: 0.1)),
      (NSDecimalNumber(string: "9007199254740993"), NSNumber(value: 9_007_199_254_740_993)),
      (NSURL(string: "file:///a/b")!, NSURL(fileURLWithPath: "/a/b")),
    ]
    let equal = pairs.filter { $0.isEqual($1) }
    #expect(equal.count == pairs.count)
    for (left, right) in equal { #expect(Self.differentHashes([left, right]) == 1, "\(left)") }
  }

  @Test("Attributed texts of different lengths differ, even if they read the same")
  func attributedTexts() {
    for _ in 0..<100 {
      let cache = ObjectCache<NSAttributedString, NSNumber>()
      let short = NSAttributedString(string: "\u{e9}")
      let long = NSAttributedString(string: "e\u{301}")
      cache.setObject(1, forKey: long)
      #expect(cache.object(forKey: short) == nil)
      cache.setObject(2, forKey: short)
      #expect(cache.object(forKey: NSAttributedString(string: "e\u{301}")) == 1)
      #expect(cache.object(forKey: NSAttributedString(string: "\u{e9}")) == 2)
    }
  }

  @Test("So do containers of them")
  func containersOfAttributedTexts() {
    let short = NSAttributedString(string: "\u{e9}")
    let long = NSAttributedString(string: "e\u{301}")
    let key = "text" as NSString
    for _ in 0..<100 {
      let cache = ObjectCache<NSObject, NSNumber>()
      let pairs: [(NSObject, NSObject)] = [
        (NSArray(object: long), NSArray(object: short)),
        (NSSet(object: long), NSSet(object: short)),
        (NSDictionary(object: long, forKey: key), NSDictionary(object: short, forKey: key)),
      ]
      for (left, right) in pairs {
        cache.setObject(1, forKey: left)
        #expect(cache.object(forKey: right) == nil && cache.object(forKey: left) == 1)
      }
    }
  }

  @Test("What was parsed from JSON is found again")
  func parsedKeys() throws {
    let cache = ObjectCache<NSArray, NSString>()
    let text = #"[null, 12345678901234567890123, 0.1, "\u00e9", {"a": [true, null]}]"#
    func key() throws -> NSArray {
      NSArray(array: try JSONSerialization.jsonObject(with: Data(text.utf8)) as! [Any])
    }
    cache.setObject("found", forKey: try key())
    #expect(cache.object(forKey: try key()) == "found")
  }

  @Test("A cache of data looks at every byte of its keys")
  func dataKeys() {
    let keys = (0..<1_000).map { number in
      Data(repeating: 7, count: 80) + Data("\(number)".utf8)
    }
    #expect(Set(keys.map { DataKey($0).hashValue }).count == 1_000)
    let cache = Cache<DataKey, Int>(countLimit: 1_000, policy: .lru)
    for (number, key) in keys.enumerated() { cache[DataKey(key)] = number }
    #expect(keys.indices.allSatisfy { cache[DataKey(Data(keys[$0]))] == $0 })
    #expect(cache[DataKey(keys[0].prefix(80))] == nil)
    // A slice begins elsewhere, and is the same key.
    #expect(DataKey((Data([1]) + keys[5]).dropFirst()) == DataKey(keys[5]))
    #expect(DataKey((Data([1]) + keys[5]).dropFirst()).hashValue == DataKey(keys[5]).hashValue)
  }
}
