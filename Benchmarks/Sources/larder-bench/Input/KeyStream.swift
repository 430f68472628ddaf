// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A small generator with a fixed sequence for each seed (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    return scattered(state)
  }
}

/// A bijection that spreads consecutive numbers over all 64 bits. So no two keys collide, and the
/// hottest keys are neighbours nowhere.
@inline(__always)
func scattered(_ number: UInt64) -> UInt64 {
  var bits = number
  bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
  bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
  return bits ^ (bits >> 31)
}

/// The keys of rank 0, 1, … `count` - 1, in an order that has no relation to the rank. Caches are
/// filled in this order, so that popular entries do not lie side by side in memory.
func shuffledKeys(_ count: Int, seed: UInt64) -> [UInt64] {
  var generator = SeededGenerator(seed: seed)
  return (0..<UInt64(count)).map(scattered).shuffled(using: &generator)
}

/// `count` requests spread evenly over `keys` keys.
func uniformStream(over keys: Int, count: Int, seed: UInt64) -> [UInt64] {
  var generator = SeededGenerator(seed: seed)
  return (0..<count).map { _ in scattered(UInt64.random(in: 0..<UInt64(keys), using: &generator)) }
}

/// Requests that draw the key of rank r with a probability proportional to 1 / (r + 1)^exponent.
/// Exact: ranks come from the inverse of the whole cumulative distribution, not from an
/// approximation.
struct ZipfSampler {
  private let cumulative: [Double]

  init(keys: Int, exponent: Double = 0.99) {
    var sum = 0.0
    cumulative = (1...keys).map { rank in
      sum += pow(Double(rank), -exponent)
      return sum
    }
  }

  func stream(count: Int, seed: UInt64) -> [UInt64] {
    ranks(count: count, seed: seed).map { scattered(UInt64($0)) }
  }

  func ranks(count: Int, seed: UInt64) -> [Int] {
    var generator = SeededGenerator(seed: seed)
    let total = cumulative[cumulative.count - 1]
    return (0..<count).map { _ in rank(at: Double.random(in: 0..<total, using: &generator)) }
  }

  /// The first rank whose cumulative weight exceeds `point`.
  private func rank(at point: Double) -> Int {
    var low = 0
    var high = cumulative.count - 1
    while low < high {
      let middle = (low + high) / 2
      if cumulative[middle] > point { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
