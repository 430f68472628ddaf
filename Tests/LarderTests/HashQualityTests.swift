// SPDX-License-Identifier: Apache-2.0

import Larder
import Testing

/// Arbitrary seeds. Every figure below follows from them.
private let seed0: UInt64 = 0x9E37_79B9_7F4A_7C15
private let seed1: UInt64 = 0xD1B5_4A32_D192_ED03
private let words = KeyHasher<Int>(seed0: seed0, seed1: seed1)
private let strings = KeyHasher<String>(seed0: seed0, seed1: seed1)

@Suite("Hashes look random")
struct HashQualityTests {
  @Test(
    "ASCII strings of all lengths differ in hash, even those of one repeated letter or of zeroes")
  func lengthsDiffer() {
    for letter in ["a", "\0", "\u{7F}"] {
      let hashes = Set((0...200).map { strings.hash(String(repeating: letter, count: $0)) })
      #expect(hashes.count == 201)
    }
  }

  @Test("Repeated and reordered blocks of long strings differ")
  func blocksDoNotCancel() {
    let blocks = (10..<100).map { "block \($0) of text" }
    #expect(blocks.allSatisfy { $0.utf8.count == 16 })
    for count in 2...8 {
      let repeated = blocks.map { String(repeating: $0, count: count) + "the end" }
      #expect(Set(repeated.map(strings.hash)).count == blocks.count)
    }
    var orders = [[Int]()]
    for _ in 0..<5 {
      orders = orders.flatMap { order in
        (0..<5).filter { !order.contains($0) }.map { order + [$0] }
      }
    }
    let reordered = orders.map { $0.map { blocks[$0] }.joined() + "the end" }
    #expect(Set(reordered.map(strings.hash)).count == 120)
  }

  @Test("A flipped bit of a word flips half of the hash, each bit about evenly")
  func wordAvalanche() {
    let count = 1_024
    for stride in [1, 0x1E37_79B9_7F4A_7C15] {
      let keys = (0..<count).map { $0 &* stride }
      for bit in 0..<64 {
        var flips = [Int](repeating: 0, count: 64)
        for key in keys {
          let change = UInt64(words.hash(key) ^ words.hash(key ^ 1 << bit))
          #expect(change != 0)
          for output in 0..<64 { flips[output] += Int((change >> UInt64(output)) & 1) }
        }
        // Six standard deviations of a fair coin: 16 each.
        let fair = (count / 2 - 96)...(count / 2 + 96)
        #expect(flips.allSatisfy(fair.contains), "input bit \(bit): \(flips)")
      }
    }
  }

  @Test("A changed byte of a string changes half of the hash, wherever it is")
  func stringAvalanche() {
    for length in 1...100 {
      let text = (0..<length).map { UInt8(0x30 + $0 * 7 % 64) }
      let hash = strings.hash(String(decoding: text, as: UTF8.self))
      var flips = 0
      for place in 0..<length {
        for bit in 0..<7 {
          var changed = text
          changed[place] ^= 1 << UInt8(bit)
          let change = hash ^ strings.hash(String(decoding: changed, as: UTF8.self))
          #expect((8...56).contains(change.nonzeroBitCount), "length \(length), byte \(place)")
          flips += change.nonzeroBitCount
        }
      }
      let mean = Double(flips) / Double(length * 7)
      #expect(abs(mean - 32) < 24 / Double(length * 7).squareRoot(), "length \(length)")
    }
  }

  // Not under ThreadSanitizer: one thread hashes, for half a minute.
  @Test("Buckets, tags and shards of regular integers are even", arguments: 0..<64)
  func regularIntegersSpread(shift: Int) {
    expectEven("multiples of 2^\(shift)", distinct: min(1 << 14, 1 << (64 - shift))) {
      words.hash($0 << shift)
    }
    let stride = Int(truncatingIfNeeded: 0x9E37_79B9_7F4A_7C15 as UInt64 >> UInt64(shift)) | 1
    expectEven("stride \(stride)") { words.hash($0 &* stride) }
    expectEven("below zero, stride 2^\(shift) + 1") { words.hash(-$0 &* (1 << shift | 1)) }
  }

  // Not under ThreadSanitizer: one thread hashes, for long.
  @Test("Buckets, tags and shards of similar strings are even")
  func similarStringsSpread() {
    let long = String(repeating: "prefix/", count: 9)
    expectEven("decimal") { strings.hash("\($0)") }
    expectEven("prefix") { strings.hash("user:\($0)") }
    expectEven("suffix") { strings.hash("\($0).thumbnail.jpeg") }
    expectEven("long prefix") { strings.hash(long + "\($0)") }
    expectEven("long suffix") { strings.hash("\($0)" + long) }
    expectEven("length only") { strings.hash(String(repeating: "a", count: $0)) }
    expectEven("binary digits") { strings.hash(String($0, radix: 2)) }
  }

  /// Pearson's chi-square over 256 cells, of every byte of the hash, and of top and low bits
  /// jointly.
  private func expectEven(_ name: String, distinct: Int = 1 << 14, _ hash: (Int) -> UInt64) {
    guard distinct >= 1 << 12 else { return }
    let parts: [(String, (UInt64) -> UInt64)] =
      (0..<8).map { byte in ("byte \(byte)", { ($0 >> (8 * UInt64(byte))) & 0xFF }) } + [
        ("bucket and tag", { ($0 >> 56) & 0xF0 | $0 & 0xF }),
        ("bucket and shard", { ($0 >> 56) & 0xF0 | ($0 >> 28) & 0xF }),
        ("shard and tag", { ($0 >> 24) & 0xF0 | ($0 >> 12) & 0xF }),
      ]
    let hashes = (0..<distinct).map(hash)
    #expect(Set(hashes).count == distinct, "\(name): equal hashes")
    for (part, cell) in parts {
      var cells = [Int](repeating: 0, count: 256)
      for hash in hashes { cells[Int(cell(hash))] += 1 }
      let mean = Double(distinct) / 256
      let sum = cells.reduce(0.0) { $0 + (Double($1) - mean) * (Double($1) - mean) / mean }
      // 255 degrees of freedom: mean 255, standard deviation 22.6; about six of them.
      #expect(sum < 390, "\(name), \(part): chi-square \(sum)")
    }
  }
}
