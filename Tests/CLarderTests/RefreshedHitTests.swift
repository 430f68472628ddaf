// SPDX-License-Identifier: Apache-2.0
import CLarder
import Larder
import LarderTestSupport
import Testing

/// Hits of caches that refresh what is old.
@Suite("Hits of refreshed values", .timeLimit(.minutes(20)))
struct RefreshedHitTests {
  @Test("A hit takes no shard's lock, also on a thread that has not used the cache lately")
  func lockFree() async throws {
    let cache = LoadingCache<Int, Int>(
      options: .init(shards: 1), loading: .init(refreshAfter: .seconds(86_400))
    ) { $0 * 10 }
    for key in 0..<2_000 { #expect(try await cache[key] == key * 10) }
    let sum = Protected(0)
    cache.cache.withCore { core in
      let shard = lrd_cache_shard_at(core, 0)
      lrd_shard_enter(core, nil, shard)
      defer { lrd_shard_leave(core, shard) }
      // A tag in 256 is that of another key, too.
      let thread = RealThread {
        var values = 0
        for key in 0..<2_000 { values += cache.cache.value(forKey: key) ?? 0 }
        sum.withLock { $0 = values }
      }
      waitUntil("plain hits, for comparison") { sum.withLock { $0 } > 0 }
      thread.join()
      sum.withLock { $0 = 0 }
      Task.detached {
        var values = 0
        for key in 0..<2_000 { values += try await cache[key] }
        sum.withLock { [values] in $0 = values }
      }
      waitUntil("hits through the loading cache") { sum.withLock { $0 } > 0 }
    }
    #expect(sum.withLock { $0 } == (0..<2_000).reduce(0, +) * 10)
  }
}
