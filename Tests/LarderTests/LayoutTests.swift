// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Values stored inline must lie where their type wants them.
@Suite("Size and alignment")
struct LayoutTests {
  /// A kilobyte inline. The key determines every word of it.
  struct Kilobyte: Sendable {
    typealias Line = (Int, Int, Int, Int, Int, Int, Int, Int)
    typealias Page = (Line, Line, Line, Line, Line, Line, Line, Line)
    var first: Page
    var second: Page

    init(_ seed: Int) {
      let line: Line = (
        seed, seed + 1, seed + 2, seed + 3, seed + 4, seed + 5, seed + 6, seed + 7
      )
      first = (line, line, line, line, line, line, line, line)
      second = first
    }

    func holds(_ seed: Int) -> Bool {
      withUnsafeBytes(of: self) { bytes in
        let words = bytes.bindMemory(to: Int.self)
        return words.count == 128 && words.indices.allSatisfy { words[$0] == seed + $0 % 8 }
      }
    }
  }

  @Test("Large values keep every byte")
  func largeValuesKeepEveryByte() {
    #expect(MemoryLayout<Kilobyte>.size == 1_024)
    let cache = Cache<Int, Kilobyte>(countLimit: 100, policy: .lru)
    for key in 0..<1_000 { cache[key] = Kilobyte(key) }
    #expect(cache.count == 100)
    for key in 900..<1_000 {
      #expect(cache[key]?.holds(key) == true)
      #expect(cache.withValue(forKey: key) { $0.holds(key) } == true)
      cache[key] = Kilobyte(-key)
      #expect(cache[key]?.holds(-key) == true)
    }
  }

  /// Copies and lends many values. Loads and stores of a misplaced vector trap, or the sanitizer of
  /// undefined behaviour reports them.
  private func aligned<Key: Hashable & Sendable, Value: Sendable>(
    _ key: (Int) -> Key, _ value: (Int) -> Value, _ matches: (Value, Int) -> Bool
  ) {
    let cache = Cache<Key, Value>(countLimit: 300, policy: .lru)
    for number in 0..<600 { cache[key(number)] = value(number) }
    for number in 300..<600 {
      #expect(cache.withValue(forKey: key(number)) { matches($0, number) } == true)
      #expect(cache.value(forKey: key(number)).map { matches($0, number) } == true)
    }
    cache.checkInvariants()
  }

  /// A cache line that is its own key.
  struct CacheLine: Hashable, Sendable {
    var vector: SIMD8<Int>

    init(_ number: Int) { vector = SIMD8(repeating: number) }
    var number: Int { vector == SIMD8(repeating: vector[7]) ? vector[7] : -1 }
  }

  struct Offset: Sendable {
    var tag: UInt8
    var vector: SIMD8<Double>
  }

  @Test("Over-aligned values keep their alignment and contents")
  func overAlignedValues() {
    #expect(MemoryLayout<CacheLine>.alignment > MemoryLayout<Int>.alignment)
    aligned({ $0 }, { CacheLine($0) }, { $0.number == $1 })
    aligned({ CacheLine($0) }, { UInt8(truncatingIfNeeded: $0) }, { $0 == UInt8($1 & 0xff) })
    aligned({ $0 }, { SIMD2<Double>(repeating: Double($0)) }, { $0.y == Double($1) })
    aligned({ $0 }, { SIMD4<Double>(repeating: Double($0)) }, { $0.w == Double($1) })
    aligned({ $0 }, { SIMD8<Double>(repeating: Double($0)) }, { $0[7] == Double($1) })
    aligned({ $0 }, { SIMD16<Double>(repeating: Double($0)) }, { $0[15] == Double($1) })
    aligned(
      { $0 }, { SIMD64<UInt8>(repeating: UInt8(truncatingIfNeeded: $0)) },
      { $0[63] == UInt8(truncatingIfNeeded: $1) })
    aligned({ $0 }, { SIMD64<Double>(repeating: Double($0)) }, { $0[63] == Double($1) })
    aligned(
      { $0 }, { Offset(tag: UInt8(truncatingIfNeeded: $0), vector: .init(repeating: Double($0))) },
      { $0.tag == UInt8(truncatingIfNeeded: $1) && $0.vector[7] == Double($1) })
  }

  @Test("Over-aligned keys and odd-sized keys lie beside values of any alignment")
  func overAlignedAndOddKeys() {
    aligned({ SIMD8<Int>(repeating: $0) }, { $0 % 3 == 0 }, { $0 == ($1 % 3 == 0) })
    aligned({ UInt16($0) }, { SIMD8<Double>(repeating: Double($0)) }, { $0[7] == Double($1) })
    aligned({ SIMD16<Int32>(repeating: Int32($0)) }, { _ in () }, { _, _ in true })
    aligned({ Odd(number: Int32($0), flag: true) }, { UInt64($0) }, { $0 == UInt64($1) })
    aligned({ "\($0)" }, { SIMD16<Double>(repeating: Double($0)) }, { $0[15] == Double($1) })
  }

  struct Odd: Hashable, Sendable {
    var number: Int32
    var flag: Bool
  }
}
