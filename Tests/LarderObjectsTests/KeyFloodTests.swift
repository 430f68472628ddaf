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
    #expect(equal.count == 8)
    for (left, right) in equal {
      #expect(Self.differentHashes([left, right]) == 1, "\(left)")
      #expect(left.hash == right.hash)
    }
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
