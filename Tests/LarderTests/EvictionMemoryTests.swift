// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

@Suite("Memory of evictions", .timeLimit(.minutes(20)))
struct EvictionMemoryTests {
  @Test("Evicted keys are told from all others", arguments: [1, 4])
  func evictedKeysAreTold(shards: Int) {
    let cache = Cache<String, Int>(
      countLimit: 3, policy: .lru, shards: shards, options: .init(rememberedEvictions: 100))
    for key in ["a", "b", "c", "d"] { cache[key] = 1 }
    let gone = ["a", "b", "c", "d"].filter { !cache.contains($0) }
    #expect(gone.count == 1 && cache.wasEvicted(gone[0]))
    #expect(cache.keys.allSatisfy { !cache.wasEvicted($0) })
    #expect(!cache.wasEvicted("never"))
    cache[gone[0]] = 2
    #expect(!cache.wasEvicted(gone[0]))
    cache[gone[0]] = nil
    #expect(!cache.wasEvicted(gone[0]))
    let left = Set(cache.keys)
    cache.trim(toCount: 0)
    #expect(left.allSatisfy { cache.wasEvicted($0) })
  }

  @Test("Removed and replaced values were not evicted")
  func removedValuesWereNotEvicted() {
    let cache = Cache<Int, Int>(options: .init(rememberedEvictions: 100))
    for key in 0..<20 { cache[key] = key }
    for key in 0..<20 { cache[key] = -key }
    cache[0] = nil
    cache.removeAll { key, _ in key < 10 }
    cache.removeAll()
    #expect((0..<20).allSatisfy { !cache.wasEvicted($0) })
  }

  // Not under ThreadSanitizer: one thread evicts and stores, for most of a minute.
  @Test(
    "At least 95 of 100 recent evictions are remembered, and no key that was never evicted",
    arguments: [1, 50, 10_000])
  func rateOfForgottenKeys(capacity: Int) {
    // The rate is that of 10,000 keys. Hashes decide how many of 50 keys share a bucket.
    let caches = 10_000 / capacity
    var last = 0
    var oldest = 0
    var never = 0
    for number in 0..<caches {
      var options = Cache<Int, Int>.Options.repeatable(UInt64(number))
      options.rememberedEvictions = capacity
      let cache = Cache<Int, Int>(countLimit: 1, policy: .fifo, options: options)
      for key in 0..<10 * capacity + 1 { cache[key] = key }
      last += (9 * capacity..<10 * capacity).count { cache.wasEvicted($0) }
      oldest += (0..<6 * capacity).count { cache.wasEvicted($0) }
      never += (0..<Stress.scaled(100) * capacity).count { cache.wasEvicted(1 << 40 + $0) }
    }
    #expect(last >= 9_500, "\(last) of 10,000")
    // The memory is bounded, so the oldest are forgotten.
    #expect(oldest <= caches * (capacity / 20 + 4), "\(oldest)")
    // The expected number is 0.002 of a million.
    #expect(never <= 1)
  }

  @Test("With many threads, no stored key is ever reported as evicted")
  func storedKeysAreNeverTold() {
    // With these hashes no other key is taken for one of the thousand.
    var options = Cache<Int, Int>.Options.repeatable()
    options.rememberedEvictions = 200
    let cache = Cache<Int, Int>(countLimit: 100, policy: .lru, shards: 4, options: options)
    onThreads(4) { thread in
      var random = SplitMix64(seed: UInt64(thread))
      for _ in 0..<Stress.scaled(10_000, atLeast: 500) {
        let key = random.below(1_000)
        cache[key] = key
        _ = cache.wasEvicted(random.below(1_000))
      }
    }
    #expect(cache.keys.allSatisfy { !cache.wasEvicted($0) })
    #expect((0..<1_000).count { cache.wasEvicted($0) } > 100)
    #expect((1_000..<100_000).allSatisfy { !cache.wasEvicted($0) })
  }

  @Test("A cache without the option knows of no eviction")
  func withoutTheOption() {
    let cache = Cache<Int, Int>(countLimit: 1)
    for key in 0..<9 { cache[key] = key }
    #expect((0..<9).allSatisfy { !cache.wasEvicted($0) })
  }

  @Test("Bad numbers stop the process")
  func badCalls() async {
    await #expect(processExitsWith: .failure) {
      _ = Cache<Int, Int>(options: .init(rememberedEvictions: -1))
    }
    await #expect(processExitsWith: .failure) {
      _ = Cache<Int, Int>(options: .init(rememberedEvictions: 1 << 40))
    }
  }
}
