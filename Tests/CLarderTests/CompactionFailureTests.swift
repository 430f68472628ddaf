// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport
import Larder
import LarderTestSupport
import Synchronization
import Testing

/// Compaction that comes to an early end, each time in a process of its own.
@Suite("Interrupted compaction", .serialized, .timeLimit(.minutes(20)))
struct CompactionFailureTests {
  private static let many = 60_000

  /// A cache of which one entry in ten is left.
  private static func sparse(shards: Int, isWatched: Bool = false) -> Cache<Int, Int> {
    let cache = Cache<Int, Int>(shards: shards)
    if isWatched { cache.withCore { lrdt_destruction_watch($0) } }
    for key in 0..<many { cache[key] = key }
    for key in 0..<many where key % 10 != 0 { cache[key] = nil }
    return cache
  }

  private static func check(_ cache: Cache<Int, Int>) {
    cache.checkInvariants()
    #expect(cache.count == many / 10)
    #expect((0..<many).allSatisfy { cache[$0] == ($0 % 10 == 0 ? $0 : nil) })
  }

  private static func pool(_ cache: Cache<Int, Int>) -> Int {
    cache.withCore { Int(lrd_cache_statistics($0).pool_bytes) }
  }

  @Test("Without memory entries stay where they are, and are moved the next time")
  func withoutMemory() async {
    await #expect(processExitsWith: .success) {
      for successes in Int64(0)..<12 {
        let cache = Self.sparse(shards: 2)
        let full = Self.pool(cache)
        lrd_alloc_fail_after(successes)
        cache.reclaim()
        lrd_alloc_fail_after(-1)
        Self.check(cache)
        cache.reclaim()
        #expect(Self.pool(cache) < full / 4, "\(successes): \(Self.pool(cache)) of \(full)")
        Self.check(cache)
      }
    }
  }

  @Test("A thread that is stopped while it destroys what was moved keeps few pages")
  func stopped() async {
    await #expect(processExitsWith: .success) {
      let cache = Self.sparse(shards: 2, isWatched: true)
      let full = Self.pool(cache)
      // All garbage is gone. What is destroyed next was moved.
      waitUntil("nothing waits") { cache.retiredCount == 0 }
      onThreads(2) { thread in
        if thread == 0 {
          lrdt_destruction_stop()
          cache.reclaim()
        } else {
          waitUntil("a thread is stopped") { lrdt_destruction_is_stopped() }
          cache.reclaim()
          #expect(Self.pool(cache) < full / 4, "\(Self.pool(cache)) of \(full)")
          Self.check(cache)
          lrdt_destruction_let_go()
        }
      }
      Self.check(cache)
    }
  }

  // Not under ThreadSanitizer: it supports no threads that begin in the child of a fork.
  @Test("A child of fork() goes on where another thread was moving entries")
  func fork() async {
    await #expect(processExitsWith: .success) {
      let cache = Self.sparse(shards: 1)
      let full = Self.pool(cache)
      let isOver = Atomic(false)
      onThreads(2) { thread in
        if thread == 0 {
          for _ in 0..<Stress.scaled(50, atLeast: 5) {
            for key in 0..<Self.many where key % 10 != 0 { cache[key] = key }
            for key in 0..<Self.many where key % 10 != 0 { cache[key] = nil }
            cache.reclaim()
          }
          isOver.store(true, ordering: .releasing)
        } else {
          while !isOver.load(ordering: .acquiring) {
            expectChildSuccess {
              for key in 0..<Self.many { cache[key] = key % 10 == 0 ? key : nil }
              cache.reclaim()
              Self.check(cache)
              precondition(Self.pool(cache) < full / 2, "\(Self.pool(cache)) of \(full)")
            }
          }
        }
      }
      Self.check(cache)
    }
  }
}
