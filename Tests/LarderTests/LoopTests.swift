// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Loops over more keys than a cache has room for. LRU and FIFO hit nothing there.
@Suite("Loops under the adaptive policy")
struct LoopTests {
  /// The part of the lookups that hit in so many rounds.
  static func hits(limit: Int, keys: Int, rounds: Int) -> Double {
    let cache = Cache<Int, Int>(
      countLimit: limit, policy: .adaptive, shards: 1, options: .repeatable())
    for _ in 0..<rounds { for key in 0..<keys where cache[key] == nil { cache[key] = key } }
    return cache.statistics.hitRatio
  }

  @Test("All but one entry of a tiny cache stay in a loop over one key more", arguments: 2...6)
  func tiny(limit: Int) {
    let best = Double(limit - 1) / Double(limit + 1)
    #expect(Self.hits(limit: limit, keys: limit + 1, rounds: 1_000) >= 0.9 * best)
  }

  @Test("The second round of a loop is hit already", arguments: [1.3, 2, 3])
  func secondRound(times: Double) {
    let limit = 1_000
    let keys = Int(times * Double(limit))
    #expect(Self.hits(limit: limit, keys: keys, rounds: 2) >= 0.4 * Double(limit) / Double(keys))
  }

  @Test("A cache of two begins by age: what is read one store later is found")
  func begins() {
    let found = (0..<100).reduce(0) { sum, number in
      let cache = Cache<Int, Int>(
        countLimit: 2, policy: .adaptive, options: .repeatable(UInt64(number)))
      return sum
        + (0..<20).count { key in
          cache[key] = key
          return cache[key - 1] != nil
        }
    }
    #expect(found >= 1_700)
  }
}
