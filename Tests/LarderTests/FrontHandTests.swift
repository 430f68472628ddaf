// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// The adaptive policy finds the victims of its main queue in advance.
@Suite struct FrontHandTests {
  /// Key k is asked for about as often as 1 / (k + 1).
  private func skewedKey(_ random: inout SplitMix64, bits: Int) -> Int {
    let bits = random.below(bits)
    return (1 << bits) - 1 + random.below(1 << bits)
  }

  // Not under ThreadSanitizer: one thread, for long.
  @Test(
    "Hardly any eviction from a cache that is hit often looks at many entries",
    arguments: [false, true])
  func steps(limitsCost: Bool) {
    let count = 8_000
    let options = Cache<Int, Int>.Options.repeatable()
    let cache =
      limitsCost
      ? Cache<Int, Int>(totalCostLimit: count, shards: 1, options: options)
      : Cache(countLimit: count, shards: 1, options: options)
    var random = SplitMix64(seed: 5)
    var (evictions, long) = (0, 0)
    for request in 0..<400_000 {
      let key = skewedKey(&random, bits: 17)
      if cache[key] != nil { continue }
      let before = cache.victimSteps
      cache.insert(key, forKey: key, cost: 1)
      if request < 100_000 { continue }
      evictions += 1
      if cache.victimSteps - before > 10 { long += 1 }
    }
    #expect(evictions > 20_000)
    #expect(long <= evictions / 1_000)
    #expect(cache.statistics.hits > 250_000)
    cache.checkInvariants()
  }

  // Not under ThreadSanitizer: one thread, for long.
  @Test("Where nearly everything is hit, the hand gives up")
  func gives() {
    let count = 8_000
    let steps = (1...5).map { (seed: UInt64) in
      let cache = Cache<Int, Int>(countLimit: count, shards: 1, options: .repeatable(seed))
      func load(_ key: Int) { if cache[key] == nil { cache[key] = key } }
      for _ in 0..<13 { for key in 0..<count { load(key) } }
      var random = SplitMix64(seed: 7)
      let (steps, evictions) = (cache.victimSteps, cache.statistics.evictions)
      for number in 0..<20_000 {
        load(count + number)
        for _ in 0..<10 { load(random.below(count)) }
      }
      let made = cache.statistics.evictions - evictions
      #expect(made > 20_000)
      cache.checkInvariants()
      return Double(cache.victimSteps - steps) / Double(made)
    }
    // One hand alone takes 4.1; with this one it is 4.8, and 5.6 if it never gave up. Which rule is
    // followed depends on the hashes, and with one secret in a hundred it is more than 5.2. The
    // median of five is close to 4.8, and held to less.
    #expect(steps.sorted()[2] < 5, "\(steps)")
  }

  @Test("Evictions of entries beyond the front hand do not lead it out of the queue")
  func beyond() {
    let cache = Cache<Int, Int>()
    for key in 0..<1_500 { cache.insert(key, forKey: key, cost: 1) }
    for key in 1_500..<3_500 { cache.insert(key, forKey: key, cost: key + 2) }
    cache.insert(0, forKey: 3_500, cost: 1)
    #expect(cache[3_500] == 0)
    // The hottest first.
    cache.trimCostliest(toCost: 1_501)
    #expect(cache.count == 1_501 && cache.totalCost == 1_501)
    cache.checkInvariants()
    for key in 0..<10_000 { cache.insert(key, forKey: key, cost: 1) }
    cache.trim(toCount: 100)
    cache.checkInvariants()
  }

  // Not under ThreadSanitizer: one thread, for long.
  @Test("Whatever leaves the main queue, the front hand stays in it")
  func hand() {
    let count = 2_000
    let cache = Cache<Int, Int>(countLimit: count, shards: 1)
    let local = LocalCache<Int, Int>(countLimit: count)
    var random = SplitMix64(seed: 6)
    for round in 0..<20 {
      for _ in 0..<8_000 {
        let key = skewedKey(&random, bits: 14)
        if cache[key] == nil { cache[key] = key }
        if local[key] == nil { local[key] = key }
      }
      // These are in the small queue and then in the main one, where the hand has passed.
      let coldest = cache.coldest(count).map(\.key)
      for key in coldest.prefix(round % 3 * 200) {
        cache.removeValue(forKey: key)
        local.removeValue(forKey: key)
      }
      switch round % 10 {
      case 2:
        // A check after each: a hand left at what was replaced may be right again by chance.
        for key in coldest.prefix(1_000) where cache.contains(key) {
          (cache[key], local[key]) = (-key, -key)
          cache.checkInvariants()
          local.checkInvariants()
        }
      case 3: (cache.countLimit, local.countLimit) = (count / 2, count / 2)
      case 5: (cache.countLimit, local.countLimit) = (count, count)
      case 7:
        cache.trim(toCount: count / 4)
        local.trim(toCount: count / 4)
      case 9:
        cache.removeAll()
        local.removeAll()
      default: break
      }
      cache.checkInvariants()
      local.checkInvariants()
    }
  }
}
