// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport
import Larder
import LarderTestSupport
import Synchronization
import Testing

/// Compaction that comes to an early end.
@Suite("Interrupted compaction", .serialized, .timeLimit(.minutes(20)))
struct CompactionFailureTests {
  private static let many = 60_000
  private static let idle = Expiration.afterAccess(.seconds(100_000))

  /// A cache of which one entry in ten is left.
  private static func sparse(
    shards: Int, cost: Int = 0, expiration: Expiration = .never, isWatched: Bool = false
  ) -> Cache<Int, Int> {
    let cache = Cache<Int, Int>(shards: shards, expiration: expiration)
    if isWatched { cache.withCore { lrdt_destruction_watch($0) } }
    for key in 0..<many { cache.insert(key, forKey: key, cost: cost) }
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

  /// Slots that two threads have in their hands, which destroy entries, and one whose lane is full.
  private static let slotsInHands = 2 * 16 + 32

  /// Whether a thread has stopped amid the destruction of what it had moved, while `body` ran on
  /// another one. It does not if the background thread has moved some before.
  private static func stopsAmidReclaim(_ body: @escaping @Sendable (Cache<Int, Int>) -> Void)
    -> Bool
  {
    let cache = sparse(shards: 2, isWatched: true)
    // All garbage is gone. What is destroyed next was moved.
    waitUntil("nothing waits") { cache.retiredCount == 0 }
    let full = pool(cache)
    let isOver = Atomic(false)
    let isTold = Atomic(false)
    onThreads(2) { thread in
      if thread == 0 {
        // What the background thread has begun, for a cache that was less sparse, ends here.
        cache.withCore { lrdt_pass_close($0) }
        lrdt_destruction_stop()
        if cache.withCore({ lrd_cache_moved($0) }) == 0 { cache.reclaim() }
        isOver.store(true, ordering: .releasing)
      } else {
        waitUntil("a thread is stopped") {
          lrdt_destruction_is_stopped() || isOver.load(ordering: .acquiring)
        }
        // Otherwise the background thread is amid a pass of its own, which would end too early.
        let movesAll = cache.withCore { lrdt_pass_left($0) } <= slotsInHands
        if lrdt_destruction_is_stopped() && movesAll {
          body(cache)
          #expect(pool(cache) < full / 4, "\(pool(cache)) of \(full)")
          check(cache)
          isTold.store(true, ordering: .relaxed)
        }
        lrdt_destruction_let_go()
      }
    }
    check(cache)
    return isTold.load(ordering: .relaxed)
  }

  @Test(
    "A thread that is stopped while it destroys what was moved keeps few pages",
    arguments: [false, true])
  func stopped(endsOnly: Bool) async {
    await #expect(processExitsWith: .success) { [endsOnly] in
      let stopped = (0..<10).contains { _ in
        Self.stopsAmidReclaim { cache in
          if endsOnly { cache.withCore { lrdt_pass_close($0) } } else { cache.reclaim() }
        }
      }
      #expect(stopped)
    }
  }

  /// A cache of which one entry in ten is left, and a pass has found its shard busy. The bytes of
  /// its pages before that. Once more if the background thread has moved all.
  private static func busyCache(
    cost: Int, expiration: Expiration = .never
  ) -> (Cache<Int, Int>, full: Int) {
    while true {
      let cache = sparse(shards: 1, cost: cost, expiration: expiration)
      let full = pool(cache)
      if cache.withCore({ lrdt_pass_begin_busy($0) }) { return (cache, full) }
    }
  }

  @Test("A pass that finds a shard busy leaves the room for those that come", arguments: [0, 5])
  func busy(cost: Int) {
    // With a cost, in a cache that limits none, an entry takes two slots.
    let (cache, full) = Self.busyCache(cost: cost)
    #expect(cache.withCore { lrdt_pass_go_on($0, false) } > 0)
    cache.withCore { lrdt_pass_close($0) }
    #expect(Self.pool(cache) < full / 4, "\(Self.pool(cache)) of \(full)")
    Self.check(cache)
  }

  @Test(
    "An entry does not move where it has no room",
    arguments: [Expiration.never, CompactionFailureTests.idle])
  func stale(expiration: Expiration) {
    let (cache, _) = Self.busyCache(cost: 5, expiration: expiration)
    // Their page has room for more.
    for key in 0..<10 { cache[-1 - key] = key }
    #expect(cache.withCore { lrdt_pass_go_on($0, true) } <= 10)
    #expect(cache.totalCost == Self.many / 10 * 5)
    for key in 0..<10 { #expect(cache.removeValue(forKey: -1 - key) == key) }
    cache.reclaim()
    Self.check(cache)
    #expect(cache.totalCost == Self.many / 10 * 5)
  }

  @Test("Nor does one that was given room for two deadlines, where all had room for one")
  func staleIdle() {
    let clock = ManualClock()
    let cache = Cache<Int, Int>(
      shards: 1, expiration: .afterWrite(.seconds(1_000)), options: .init(clock: .manual(clock)))
    cache.expiration = .init(afterWrite: .seconds(1_000), afterAccess: .seconds(100))
    for key in 0..<Self.many { cache[key] = key }
    for key in 0..<Self.many where key % 10 != 0 { cache[key] = nil }
    while !cache.withCore({ lrdt_pass_begin_busy($0) }) {
      for key in 0..<Self.many { cache[key] = key }
      for key in 0..<Self.many where key % 10 != 0 { cache[key] = nil }
    }
    #expect(cache.withCore { lrdt_pass_go_on($0, true) } == 0)
    clock.advance(by: .seconds(60))
    Self.check(cache)
    // What was used lives on, as it would not if a hit had moved another entry's deadline.
    clock.advance(by: .seconds(60))
    Self.check(cache)
    cache.reclaim()
    Self.check(cache)
  }

  @Test("Pages that a thread looked through are as others where fork() has lost it")
  func lostHollow() {
    // Too little for reclaim() to vacate pages again.
    let cache = Cache<Int, Int>(shards: 1)
    for key in 0..<1_000 { cache[key] = key }
    let full = Self.pool(cache)
    for key in 0..<1_000 where key % 10 != 0 { cache[key] = nil }
    #expect(cache.withCore { lrdt_pass_begin_busy($0) })
    cache.withCore { lrdt_hollow_lose($0) }
    #expect(cache.withCore { lrdt_hollow_kept($0) } > 0)
    cache.reclaim()
    #expect(cache.withCore { lrdt_hollow_kept($0) } == 0)
    for key in 0..<1_000 { #expect(cache[key] == (key % 10 == 0 ? key : nil)) }
    for key in 0..<1_000 { cache[key] = key }
    cache.checkInvariants()
    cache.removeAll()
    waitUntil(deadline: 60, "the pages are given back") {
      cache.reclaim()
      return Self.pool(cache) < full / 2
    }
  }

  @Test("What was moved is destroyed where fork() has lost the thread that moved it")
  func lostPass() {
    let tracker = LifetimeTracker()
    // Too little for reclaim() to move anything.
    let cache = Cache<Int, Tracked>(shards: 1)
    for key in 0..<1_000 { cache[key] = tracker.make(key) }
    for key in 0..<1_000 where key % 10 != 0 { cache[key] = nil }
    cache.withCore { lrdt_pass_lose($0) }
    for key in 0..<1_000 { cache[key] = nil }
    waitUntil("all are gone") {
      cache.reclaim()
      return tracker.live == 0
    }
    #expect(tracker.faults.isEmpty)
  }

  @Test("What was moved is destroyed when the cache is, though another thread refers to it")
  func closed() async {
    await #expect(processExitsWith: .success) {
      let tracker = LifetimeTracker()
      var cache: Cache<Int, Tracked>? = Cache(shards: 1)
      for key in 0..<1_000 { cache![key] = tracker.make(key) }
      for key in 0..<1_000 where key % 10 != 0 { cache![key] = nil }
      cache!.withCore { lrdt_pass_lose($0) }
      let hold = UnsafeMutablePointer<lrd_hold>.allocate(capacity: 1)
      var held: OpaquePointer?
      lrd_hold_begin(hold)
      precondition(lrd_hold_next(hold, &held) != nil)
      cache = nil
      precondition(tracker.live == 0 && tracker.faults.isEmpty)
      precondition(lrd_hold_next(hold, &held) == nil)
      lrd_cache_release(held!)
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
