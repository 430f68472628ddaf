// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// A key is whatever `==` and `hash(into:)` say it is.
@Suite("Key types")
struct KeyTypeTests {
  /// Stores the index of each key under the key. Each must find its own value, and only that.
  private func roundTrip<Key: Hashable & Sendable>(_ keys: [Key]) {
    for shards in [1, 4] {
      let cache = Cache<Key, Int>(shards: shards)
      for (index, key) in keys.enumerated() {
        #expect(cache[key] == nil, "\(key) is found before it is stored")
        #expect(cache.insert(index, forKey: key) == .inserted)
      }
      for (index, key) in keys.enumerated() {
        #expect(cache[key] == index, "\(key)")
        #expect(cache.withValue(forKey: key) { $0 } == index, "\(key)")
        #expect(cache.contains(key), "\(key)")
        #expect(cache.insert(index, forKey: key) == .replaced, "\(key)")
      }
      #expect(cache.values(forKeys: keys) == keys.indices.map { $0 })
      cache.checkInvariants()
      for (index, key) in keys.enumerated() {
        #expect(cache.removeValue(forKey: key) == index, "\(key)")
        #expect(!cache.contains(key), "\(key)")
      }
      #expect(cache.isEmpty)
    }
  }

  @Test("Integers of all sizes are keys")
  func integers() {
    roundTrip([0, 1, -1, .max, .min, 1 << 32, 1 << 62, 0xffff_ffff] as [Int])
    roundTrip(Array(0...255) as [UInt8])
    roundTrip([0, .max, 1 << 63] as [UInt64])
    roundTrip([0, 1, .max, 1 << 64, 1 << 127] as [UInt128])
    roundTrip((0..<3_000).map { $0 << 12 })
    roundTrip((0..<3_000).map { $0 << 48 })
  }

  @Test("Strings of all kinds are keys")
  func strings() {
    roundTrip(
      ["", "a", "b", "ab", "ba", "\0", "\0\0", "é", "日本語", "🧺", "🧑‍🌾", "e", "K", "k"]
        + [7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 1_000, 100_000].map {
          String(repeating: "x", count: $0)
        } + [15, 16, 40].map { String(repeating: "é", count: $0) })
    roundTrip((0..<3_000).map { "key:\($0)" })
    roundTrip((0..<500).map { "a much longer key with a number behind it: \($0)" })
    roundTrip((0..<500).map { "a much longer key that differs in \($0) its middle, not its end" })
  }

  @Test("Canonically equal strings are one key")
  func canonicalEquivalence() {
    let long = String(repeating: "-", count: 40)
    let pairs = [
      ("\u{e9}", "e\u{301}"), ("K", "\u{212A}"), ("\u{c5}", "\u{212B}"), ("가", "\u{1100}\u{1161}"),
      (long + "\u{e9}", long + "e\u{301}"), (long + "K", long + "\u{212A}"),
      ("q\u{307}\u{323}", "q\u{323}\u{307}"), (";", "\u{37e}"),
    ]
    let cache = Cache<String, Int>()
    for (index, (one, other)) in pairs.enumerated() {
      #expect(one == other)
      #expect(cache.insert(index, forKey: one) == .inserted)
      #expect(cache[other] == index)
      #expect(cache.insert(-index, forKey: other) == .replaced)
      #expect(cache[one] == -index)
    }
    #expect(cache.count == pairs.count)
    cache.checkInvariants()
  }

  @Test("A string that was bridged or sliced finds its native twin")
  func stringRepresentations() {
    let cache = Cache<String, Int>()
    let text = "the quick brown fox jumps over the lazy dog"
    cache[String(text.dropFirst(4))] = 1
    #expect(cache["quick brown fox jumps over the lazy dog"] == 1)
    #expect(cache[String(decoding: Array(text.utf8.dropFirst(4)), as: UTF8.self)] == 1)
    var grown = "quick"
    grown.reserveCapacity(1_000)
    grown += " brown fox jumps over the lazy dog"
    #expect(cache[grown] == 1)
  }

  @Test("Substrings and characters are keys")
  func substringsAndCharacters() {
    let text = "ab ab cd é e\u{301} long-enough-to-live-on-the-heap"
    let cache = Cache<Substring, Int>()
    for word in text.split(separator: " ") { cache[word] = word.count }
    #expect(cache.count == 4)
    #expect(cache["long-enough-to-live-on-the-heap"] == 31)
    roundTrip(Array("abcé🧺") as [Character])
  }

  struct Pair: Hashable, Sendable {
    var number: Int
    var text: String
  }

  enum Shape: Hashable, Sendable {
    case point
    case circle(Double)
    case named(String, Int)
  }

  struct Position: Hashable, Sendable {
    let place: (Int, Int)
    static func == (left: Position, right: Position) -> Bool { left.place == right.place }
    func hash(into hasher: inout Hasher) {
      hasher.combine(place.0)
      hasher.combine(place.1)
    }
  }

  enum Unit: Hashable, Sendable { case only }

  @Test("Compound types are keys")
  func compoundKeys() {
    roundTrip([Pair(number: 1, text: ""), Pair(number: 1, text: "a"), Pair(number: 2, text: "a")])
    roundTrip([Shape.point, .circle(0), .circle(1), .named("", 0), .named("", 1), .named("a", 0)])
    roundTrip((0..<50).map { Position(place: ($0 / 7, $0 % 7)) })
    roundTrip([nil, 0, 1] as [Int?])
    roundTrip([nil, .some(nil), 0] as [Int??])
    roundTrip([[], [0], [0, 0], [1, 2, 3]] as [[Int]])
    roundTrip([Unit.only])
    roundTrip([true, false])
    roundTrip([AnyHashableKey(1), AnyHashableKey("1")])
    roundTrip([ObjectIdentifier(Int.self), ObjectIdentifier(String.self)])
  }

  /// A type-erased key.
  struct AnyHashableKey: Hashable, @unchecked Sendable {
    let base: AnyHashable  // only Sendable bases are put in
    init(_ base: some Hashable & Sendable) { self.base = AnyHashable(base) }
  }

  @Test("Objects are keys")
  func classKeys() {
    let tracker = LifetimeTracker()
    roundTrip((0..<100).map { ClassKey($0, tracker) })
    // The background thread may be destroying the last few keys of a dropped cache.
    waitUntil("all keys are released") { tracker.live == 0 }
  }

  @Test("Zero and minus zero are one key")
  func signedZero() {
    let cache = Cache<Double, Int>()
    cache[0.0] = 1
    #expect(cache[-0.0] == 1)
    roundTrip([0, 1, -1, .infinity, -.infinity, .pi, .leastNonzeroMagnitude] as [Double])
  }

  @Test("One cache has keys of several types")
  func keysOfAnyType() {
    let cache = Cache<AnyKey, String>(countLimit: 10)
    cache[AnyKey("1")] = "text"
    cache[AnyKey(1)] = "number"
    cache[AnyKey([1, 2])] = "array"
    #expect(cache[AnyKey("1")] == "text" && cache[AnyKey(1.0)] == "number")
    #expect(cache[AnyKey([1, 2])] == "array" && cache[AnyKey([1])] == nil)
    #expect(AnyKey("a").base as? String == "a" && "\(AnyKey(7))" == "7")
  }
}
