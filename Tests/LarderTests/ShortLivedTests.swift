// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Programs whose entries mostly leave by a call, or because their time is over, long before they
/// would be evicted. FIFO is the measure: it keeps what stays for just as long.
@Suite("Entries that live shortly")
struct ShortLivedTests {
  enum Way: CaseIterable { case removed, expired }

  static func isShort(_ key: Int, percent: Int) -> Bool {
    Int(truncatingIfNeeded: UInt64(key) &* 0x9E37_79B9_7F4A_7C15 >> 40) % 100 < percent
  }

  /// The hits of the last half: most keys go soon after they were stored, the others are read twice
  /// when some fills more have been stored.
  static func hits(_ policy: EvictionPolicy, _ way: Way, limit: Int, percent: Int, tenths: Int)
    -> Int
  {
    let clock = ManualClock()
    var options = Cache<Int, Int>.Options.repeatable()
    options.clock = .manual(clock)
    let cache = Cache<Int, Int>(countLimit: limit, policy: policy, shards: 1, options: options)
    let (fills, soon, late) = (60, limit / 10, limit * tenths / 10)
    var hits = 0
    for key in 0..<fills * limit {
      if way == .expired {
        let isShort = isShort(key, percent: percent)
        cache.insert(key, forKey: key, expiresAfter: .seconds(isShort ? soon : 20 * limit))
        clock.advance(by: .seconds(1))
      } else {
        cache[key] = key
        let old = key - soon
        if old >= 0 && isShort(old, percent: percent) { cache[old] = nil }
      }
      let read = key - late
      guard read >= 0 && !isShort(read, percent: percent) else { continue }
      for _ in 0..<2 where cache[read] != nil && key >= fills / 2 * limit { hits += 1 }
    }
    cache.checkInvariants()
    return hits
  }

  @Test(
    "What stays is found as long as it fits", arguments: Way.allCases,
    [(60, 20), (80, 35), (90, 60)])
  func stays(way: Way, mix: (percent: Int, tenths: Int)) {
    for limit in [100, 1_000] {
      func hits(_ policy: EvictionPolicy) -> Int {
        Self.hits(policy, way, limit: limit, percent: mix.percent, tenths: mix.tenths)
      }
      let (found, best) = (hits(.adaptive), hits(.fifo))
      #expect(Double(found) > 0.9 * Double(best), "\(found) of \(best), limit \(limit)")
    }
  }

  @Test("To remove what the cache has evicted already is heard of, too", arguments: [false, true])
  func removedTooLate(locally: Bool) {
    // Most keys are temporary, and removed when a tenth of the limit has been stored since. A cache
    // with a tiny queue for new keys has evicted them by then, and one without would have not.
    let limit = 100
    let cache = Cache<Int, Int>(countLimit: limit, shards: 1, options: .repeatable())
    let local = LocalCache<Int, Int>(countLimit: limit)
    let fifo = Cache<Int, Int>(countLimit: limit, policy: .fifo)
    var (found, best, loads) = (0, 0, 0)
    var random = SplitMix64(seed: 8)
    var temporary: [Int] = []
    for step in 0..<200 * limit {
      if random.below(100) < 85 {
        let key = 1 << 40 + step
        if locally { local[key] = 0 } else { cache[key] = 0 }
        fifo[key] = 0
        temporary.append(key)
        guard temporary.count > limit / 10 else { continue }
        let old = temporary[temporary.count - limit / 10]
        if locally { local[old] = nil } else { cache[old] = nil }
        fifo[old] = nil
      } else {
        loads += 1
        let key = loads / 6 + random.below(limit * 8 / 10)
        let isHit = locally ? local[key] != nil : cache[key] != nil
        if isHit { found += 1 } else if locally { local[key] = key } else { cache[key] = key }
        if fifo[key] != nil { best += 1 } else { fifo[key] = key }
      }
    }
    #expect(Double(found) > 0.85 * Double(best), "\(found) of \(best)")
  }
}
