// SPDX-License-Identifier: Apache-2.0

import CLarder
import Larder
import Testing

/// Seeds with nothing special about them.
private let seed0: UInt64 = 0x9E37_79B9_7F4A_7C15
private let seed1: UInt64 = 0xD1B5_4A32_D192_ED03
private let strings = KeyHasher<String>(seed0: seed0, seed1: seed1)

/// SplitMix64: repeatable random words for the tests that sample.
private struct SplitMix: RandomNumberGenerator {
  var state: UInt64 = 42
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }
}

private var allScalars: some Sequence<Unicode.Scalar> {
  (UInt32(0)...0x10FFFF).lazy.compactMap(Unicode.Scalar.init)
}

@Suite("Equal keys have equal hashes")
struct HashEqualityTests {
  // Not under ThreadSanitizer: one thread hashes, for long.
  @Test("Exactly the listed scalars are equal to ASCII strings")
  func listOfSingletonsIsComplete() {
    let ascii = Set((UInt8(0)..<0x80).map { String(Unicode.Scalar($0)) })
    var listed: [UInt32] = []
    for scalar in allScalars where scalar.value >= 0x80 {
      let text = String(scalar)
      if let image = StringHashing.asciiImage(of: scalar) {
        listed.append(scalar.value)
        #expect(text == String(Unicode.Scalar(image)))
        #expect(strings.hash(text) == strings.hash(String(Unicode.Scalar(image))))
      } else if ascii.contains(text) || text < "\u{80}" {
        // Strings are ordered by their normal form, and the normal form of this one begins with an
        // ASCII scalar.
        Issue.record("U+\(String(scalar.value, radix: 16)) may be equal to an ASCII string")
      }
    }
    #expect(listed == [0x037E, 0x1FEF, 0x212A])
  }

  // Not under ThreadSanitizer: one thread hashes, for long.
  @Test("All scalars, and all pairs that compose to one, hash like the strings they equal")
  func scalarsAndPairs() {
    var hashes: [String: UInt64] = [:]
    hashes.reserveCapacity(1_200_000)
    var equalPairs = 0
    func check(_ text: String) {
      if let hash = hashes[text] {
        equalPairs += 1
        if hash != strings.hash(text) { Issue.record("\(text.unicodeScalars.map(\.value))") }
      }
    }
    for scalar in allScalars {
      check(String(scalar))
      hashes[String(scalar)] = strings.hash(String(scalar))
    }
    #expect(equalPairs > 1_000)  // U+212B ANGSTROM SIGN and U+00C5, the compatibility ideographs…
    equalPairs = 0
    let marks = (0x300...0x36F).map { Unicode.Scalar($0 as UInt16)! }
    for base in (0x20...0x24F).map({ Unicode.Scalar($0 as UInt16)! }) {
      for mark in marks { check(String(base) + String(mark)) }
    }
    for lead in 0x1100...0x1112 as ClosedRange<UInt32> {
      for vowel in 0x1161...0x1175 as ClosedRange<UInt32> {
        let open = String(Unicode.Scalar(lead)!) + String(Unicode.Scalar(vowel)!)
        check(open)
        for tail in 0x11A8...0x11C2 as ClosedRange<UInt32> {
          check(open + String(Unicode.Scalar(tail)!))
        }
      }
    }
    #expect(equalPairs > 11_172)  // every Hangul syllable is among them
  }

  @Test("Strings of up to four awkward scalars share a hash exactly when they are equal")
  func everyShortSpelling() {
    let alphabet = [
      "K", "\u{212A}", ";", "\u{37E}", "`", "\u{1FEF}", "e", "\u{301}", "\u{E9}", "\u{323}",
      "\u{1FFD}", "\u{1100}", "\u{1161}", "\u{AC00}",
    ]
    var classes: [String: UInt64] = [:]
    var texts = [""]
    for _ in 0...4 {
      for text in texts {
        let hash = strings.hash(text)
        #expect(classes.updateValue(hash, forKey: text) ?? hash == hash)
      }
      texts = texts.flatMap { text in alphabet.map { text + $0 } }
    }
    #expect(Set(classes.values).count == classes.count)
  }

  @Test(
    "Long strings keep their hash when they are respelled at random", arguments: [20, 100, 3_000])
  func longRespelledStrings(length: Int) {
    let spellings = [
      ["K", "\u{212A}"], [";", "\u{37E}"], ["`", "\u{1FEF}"], ["x"], ["/"],
      ["\u{E9}", "e\u{301}"], ["\u{AC01}", "\u{1100}\u{1161}\u{11A8}", "\u{AC00}\u{11A8}"],
      ["q\u{301}\u{323}", "q\u{323}\u{301}"], ["\u{212B}", "\u{C5}", "A\u{30A}"],
    ]
    var random = SplitMix()
    for kinds in [1...4, 0...4, 0...8] {
      for _ in 0..<40 {
        let text = (0..<length).map { _ in spellings[kinds.randomElement(using: &random)!] }
        let first = text.map { $0[0] }.joined()
        let other = text.map { $0.randomElement(using: &random)! }.joined()
        #expect(first == other)
        #expect(strings.hash(first) == strings.hash(other))
      }
    }
  }

  @Test("Keys are compared as == compares them: every byte, any length, any spelling")
  func comparisonAgreesWithEquality() {
    func areEqual(_ a: String, _ b: String) -> Bool {
      withUnsafePointer(to: a) { KeyHasher<String>.isEqual($0, b) }
    }
    for length in 0...80 {
      let text = String(repeating: "a", count: length)
      #expect(areEqual(text, String(decoding: Array(text.utf8), as: UTF8.self)))
      #expect(!areEqual(text, text + "a") && !areEqual(text + "a", text))
      for place in 0..<length {
        var bytes = Array(text.utf8)
        bytes[place] = UInt8(ascii: "b")
        if areEqual(text, String(decoding: bytes, as: UTF8.self)) {
          Issue.record("length \(length), place \(place)")
        }
      }
      #expect(areEqual(text + "\u{E9}", text + "e\u{301}"))
      #expect(areEqual(text + "K", text + "\u{212A}"))
      #expect(!areEqual(text + "\u{E9}", text + "e\u{300}"))
    }
  }

  @Test("One scalar beyond ASCII is noticed wherever it stands")
  func singletonAnywhere() {
    for length in 0...100 {
      for place in 0...length {
        let (before, after) = (
          String(repeating: "a", count: place), String(repeating: "z", count: length - place)
        )
        let hash = strings.hash(before + "K" + after)
        if strings.hash(before + "\u{212A}" + after) != hash {
          Issue.record("length \(length), place \(place)")
        }
      }
    }
  }

  @Test("The same text hashes alike however it is stored")
  func storageDoesNotMatter() {
    for length in 0...40 {
      let small = String(repeating: "k", count: length)
      var large = ""
      large.reserveCapacity(64)
      large += small
      #expect(strings.hash(small) == strings.hash(large))
      let sliced = String(("-" + small + "-").dropFirst().dropLast())
      #expect(strings.hash(small) == strings.hash(sliced))
      #expect(strings.hash(small) == strings.hash(String(decoding: small.utf16, as: UTF16.self)))
    }
  }

  @Test("Integers, scalars and object identities hash as their bits")
  func wordsHashAsBits() {
    func expect<Key: Hashable>(_ key: Key, as word: UInt64) {
      let hasher = KeyHasher<Key>(seed0: seed0, seed1: seed1)
      #expect(hasher.hash(key) == lrd_hash_word(word, hasher.seed0, hasher.seed1))
      let product = (word ^ hasher.seed0).multipliedFullWidth(by: hasher.seed1)
      let folded = (product.low ^ LRD_HASH_LOW).multipliedFullWidth(
        by: product.high ^ LRD_HASH_HIGH)
      #expect(hasher.hash(key) == folded.low ^ folded.high)
    }
    expect(-1 as Int, as: .max)
    expect(UInt.max - 1, as: .max - 1)
    expect(Int64.min, as: 1 << 63)
    expect(UInt64(7), as: 7)
    expect(-2 as Int32, as: 0xFFFF_FFFE)
    expect(UInt32.max, as: 0xFFFF_FFFF)
    expect(-3 as Int16, as: 0xFFFD)
    expect(UInt16.max, as: 0xFFFF)
    expect(-4 as Int8, as: 0xFC)
    expect(UInt8.max, as: 0xFF)
    expect("\u{1F600}" as Unicode.Scalar, as: 0x1F600)
    let type = ObjectIdentifier(Int.self)
    expect(type, as: UInt64(UInt(bitPattern: type)))
  }

  @Test("Other keys agree with ==, and NaN does not trap")
  func otherKeys() {
    let doubles = KeyHasher<Double>(seed0: seed0, seed1: seed1)
    #expect(doubles.hash(0.0) == doubles.hash(-0.0))
    #expect(doubles.hash(1) != doubles.hash(2))
    _ = doubles.hash(.nan)
    _ = KeyHasher<Float>().hash(.signalingNaN)
    let erased = KeyHasher<AnyHashable>(seed0: seed0, seed1: seed1)
    #expect(AnyHashable(1 as Int) == AnyHashable(1 as Double))
    #expect(erased.hash(1 as Int) == erased.hash(1 as Double))
    let optionals = KeyHasher<Int?>(seed0: seed0, seed1: seed1)
    #expect(optionals.hash(nil) != optionals.hash(0))
    struct Same: Hashable {
      func hash(into hasher: inout Hasher) {}
    }
    let same = KeyHasher<Same>(seed0: seed0, seed1: seed1)
    #expect(same.hash(Same()) == same.hash(Same()))
  }

  @Test("Every bit of the seeds matters, and two hashers differ")
  func seedsMatter() {
    var seen: [Set<UInt64>] = [[], [], [], []]
    for bit in 0..<64 {
      for (a, b) in [(seed0 ^ 1 << UInt64(bit), seed1), (seed0, seed1 ^ 1 << UInt64(bit))] {
        seen[0].insert(KeyHasher<Int>(seed0: a, seed1: b).hash(1))
        seen[1].insert(KeyHasher<String>(seed0: a, seed1: b).hash("key"))
        seen[2].insert(KeyHasher<String>(seed0: a, seed1: b).hash("cl\u{E9}"))
        seen[3].insert(KeyHasher<Double>(seed0: a, seed1: b).hash(1))
      }
    }
    // Three bits are forced. Flipping them gives the hash of the seeds as they are.
    for hashes in seen { #expect(hashes.count == 126) }
    // Keys that collide in one cache's Hasher are not known to collide in another's.
    let states = (0..<8).map { KeyHasher<HasherProbe>(seed0: $0, seed1: seed1).stateSeen }
    #expect(Set(states).count == 8)
    #expect(KeyHasher<Int>().hash(1) != KeyHasher<Int>().hash(1))
    #expect(KeyHasher<String>().hash("key") != KeyHasher<String>().hash("key"))
  }
}

/// A key that reveals the state of the `Hasher` it is given.
private struct HasherProbe: Hashable {
  final class State {
    var seen = 0
  }
  let state = State()
  static func == (a: Self, b: Self) -> Bool { a.state === b.state }
  func hash(into hasher: inout Hasher) {
    let copy = hasher
    state.seen = copy.finalize()
  }
}

extension KeyHasher<HasherProbe> {
  fileprivate var stateSeen: Int {
    let probe = HasherProbe()
    _ = hash(probe)
    return probe.state.seen
  }
}
