// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Synchronization
import Testing

// Not under ThreadSanitizer: it supports no threads that begin in the child of a fork.

/// A forked child has one thread and a copy of everything else.
@Suite("Forks", .timeLimit(.minutes(20)))
struct ForkTests {
  @Test("The caches of a forked child work")
  func quietFork() async {
    await #expect(processExitsWith: .success) {
      let cache = Cache<Int, Int>(countLimit: 100)
      for key in 0..<100 { cache[key] = key }
      expectChildSuccess {
        useAfterFork(cache)
        precondition(cache.totalCost == 0 && cache.retiredCount == 0, "all was removed")
      }
      precondition(cache[99] == 99, "the parent's cache is untouched")
    }
  }

  @Test("A fork amid calls of other threads leaves no lock held in the child")
  func busyFork() async {
    await #expect(processExitsWith: .success) {
      let cache = Cache<Int, Int>(countLimit: 100, shards: 2)
      for key in 0..<100 { cache[key] = key }
      useAfterFork(Cache<Int, Int>(countLimit: 100, shards: 2))
      let forked = Atomic<Bool>(false)
      onThreads(4) { thread in
        if thread == 0 {
          for _ in 0..<Stress.scaled(50, atLeast: 5) { expectChildSuccess { useAfterFork(cache) } }
          forked.store(true, ordering: .releasing)
        } else {
          var random = SplitMix64(seed: UInt64(thread))
          while !forked.load(ordering: .acquiring) {
            let key = random.below(200)
            if thread == 1 { _ = cache[key] } else { cache[key] = key }
          }
        }
      }
      cache.checkInvariants()
      precondition(cache.count == 100)
    }
  }

  @Test("After a fork amid a change of lifetimes the child's rule is one, and can be set")
  func forkAmidRuleChange() async {
    await #expect(processExitsWith: .success) {
      let clock = ManualClock()
      let keys = 20_000
      let cache = Cache<Int, Int>(
        shards: 4, expiration: .afterWrite(.seconds(100)), options: .init(clock: .manual(clock)))
      for key in 0..<keys { cache[key] = key }
      precondition((0..<keys).allSatisfy { cache.peek(forKey: $0) == $0 })
      let forked = Atomic<Bool>(false)
      onThreads(2) { thread in
        if thread == 0 {
          for _ in 0..<Stress.scaled(40, atLeast: 10) {
            expectChildSuccess {
              let new = keys..<keys + 100
              for key in new { cache[key] = key }
              let lives = Set(new.map { cache.remainingLifetime(forKey: $0) })
              precondition(lives.count == 1, "some went by another rule")
              let rule = cache.expiration
              cache.expiration = rule
              let all = Set((0..<keys).map { cache.remainingLifetime(forKey: $0) })
              precondition(all == lives, "the rule was set, but not for all")
              cache.expiration = .afterWrite(.seconds(10))
              clock.advance(by: .seconds(10))
              precondition((0..<keys).allSatisfy { cache.peek(forKey: $0) == nil })
            }
          }
          forked.store(true, ordering: .releasing)
        } else {
          var seconds = 100
          while !forked.load(ordering: .acquiring) {
            seconds = 100 + (seconds + 1) % 100
            cache.expiration = .afterWrite(.seconds(seconds))
          }
        }
      }
      cache.checkInvariants()
    }
  }

  @Test("A fork amid another thread's destructions stops none in the child")
  func forkAmidDestruction() async {
    await #expect(processExitsWith: .success) {
      let tracker = LifetimeTracker()
      let cache = Cache<Int, Tracked>()
      let entered = Atomic<Bool>(false)
      let forked = Atomic<Bool>(false)
      onThreads(2) { thread in
        if thread == 0 {
          cache[0] = tracker.make {
            entered.store(true, ordering: .releasing)
            waitUntil("forked") { forked.load(ordering: .acquiring) }
          }
          cache.removeAll()
          cache.reclaim()
        } else {
          waitUntil("destroying") { entered.load(ordering: .acquiring) }
          expectChildSuccess {
            let count = Protected(0)
            // Takes over the record of the thread that does not exist in the child.
            RealThread {
              for key in 0..<2_000 {
                cache[key] = tracker.make { count.withLock { $0 += 1 } }
                cache[key] = nil
                precondition(count.withLock { $0 } == key + 1, "destroyed before the call returns")
              }
            }.join()
          }
          forked.store(true, ordering: .releasing)
        }
      }
    }
  }

  /// Several caches have a visit due at once, and a value that the first visit destroys forks.
  @Test("Where the background thread has forked, it goes on in the child", arguments: [1, 4])
  func forkOnTheBackgroundThread(caches: Int) async {
    await #expect(processExitsWith: .success) { [caches] in
      let tracker = LifetimeTracker()
      let forked = Atomic(false)
      let ended = Atomic(false)
      let made = (0..<caches).map { _ in
        Cache<Int, Tracked>(expiration: .afterWrite(.milliseconds(5)))
      }
      for cache in made {
        cache[0] = tracker.make {
          guard !forked.exchange(true, ordering: .relaxed) else { return }
          expectReturningChildSuccess { useAfterReturn(made) }
          ended.store(true, ordering: .releasing)
        }
      }
      waitUntil("the child has ended") { ended.load(ordering: .acquiring) }
      for cache in made { cache[1] = tracker.make() }
      waitUntil("all have expired") { tracker.live == 0 }
    }
  }

  /// A group whose hash waits, with the index locked, until another thread is about to fork.
  private struct Lingering: Hashable, Sendable {
    static let entered = Atomic(false)
    static let forking = Atomic(false)
    let lingers: Bool

    static func == (left: Lingering, right: Lingering) -> Bool { true }

    func hash(into hasher: inout Hasher) {
      guard lingers else { return }
      Self.entered.store(true, ordering: .releasing)
      waitUntil("forking") { Self.forking.load(ordering: .acquiring) }
      // Leaves time for a fork that does not wait for this lock.
      for _ in 0..<100 { sleepBriefly() }
    }
  }

  @Test("A fork amid another thread's work on groups leaves the groups unlocked in the child")
  func forkAmidGroups() async {
    await #expect(processExitsWith: .success) {
      let cache = Cache<Int, Int>(
        options: .init(groups: .by({ Lingering(lingers: $0 == -1) }, quota: { _ in 5 })))
      cache[0] = 0
      onThreads(2) { thread in
        if thread == 0 {
          cache[-1] = -1
        } else {
          waitUntil("the index is locked") { Lingering.entered.load(ordering: .acquiring) }
          Lingering.forking.store(true, ordering: .releasing)
          expectChildSuccess {
            for key in 1..<10 { cache[key] = key }
            precondition(cache.count(inGroup: Lingering(lingers: false)) <= 5)
            cache.removeAll(inGroup: Lingering(lingers: false))
          }
        }
      }
    }
  }

  @Test("A child goes on after a fork amid evictions, groups and second chances")
  func busyForkWithAllOptions() async {
    await #expect(processExitsWith: .success) {
      let tracker = LifetimeTracker()
      var options = Cache<Int, Tracked>.Options(groups: .by({ $0 % 3 }, quota: { _ in 20 }))
      options.secondChances = 64
      let cache = Cache<Int, Tracked>(countLimit: 50, shards: 2, options: options)
      let held = (0..<200).map { tracker.make($0) }
      useAfterFork(cache, held)
      let forked = Atomic(false)
      onThreads(3) { thread in
        if thread == 0 {
          for _ in 0..<Stress.scaled(50, atLeast: 5) {
            expectChildSuccess { useAfterFork(cache, held) }
          }
          forked.store(true, ordering: .releasing)
        } else {
          var random = SplitMix64(seed: UInt64(thread))
          while !forked.load(ordering: .acquiring) {
            let key = random.below(200)
            if thread == 1 { cache[key] = held[key] } else { _ = cache.survivingValue(forKey: key) }
          }
        }
      }
    }
  }
}

/// The calls of a child on a cache that has groups and second chances.
private func useAfterFork(_ cache: Cache<Int, Tracked>, _ held: [Tracked]) {
  for key in held.indices {
    cache[key] = held[key]
    precondition(cache.survivingValue(forKey: key) === held[key])
  }
  cache.removeAll(inGroup: 1)
  cache.reclaim()
  cache.checkInvariants()
}

/// What the background thread owes such a child: it visits all caches, and none that is freed.
private func useAfterReturn(_ caches: [Cache<Int, Tracked>]) {
  let tracker = LifetimeTracker()
  for _ in 0..<10 {
    for cache in caches {
      for key in 0..<50 { cache[key] = tracker.make() }
    }
    waitUntil("the child's entries have expired") { tracker.live == 0 }
    precondition(caches.allSatisfy(\.isEmpty))
    let fresh = Cache<Int, Tracked>(countLimit: 10)
    for key in 0..<50 { fresh[key] = tracker.make() }
    precondition(fresh.count == 10)
  }
  waitUntil("all caches of the child have ended") { tracker.live == 0 }
  for cache in caches { cache.checkInvariants() }
}

/// The calls of a child on the caches it inherited.
private func useAfterFork(_ cache: Cache<Int, Int>) {
  for key in 1_000..<1_500 {
    cache[key] = key
    precondition(cache[key] == key, "the child reads what it wrote")
    precondition(cache.count <= 100, "limits hold in the child")
  }
  // If another thread had begun a call when the process forked, its entry may stay forever.
  precondition(cache.count >= 90, "the child may use the cache's whole size")
  precondition(cache.snapshot().allSatisfy { $0.key == $0.value }, "entries are whole")
  precondition(cache.values(forKeys: [1_499, -1]) == [1_499, nil])
  precondition(cache.removeValue(forKey: 1_499) == 1_499)
  cache.reclaim()
  cache.checkInvariants()
  cache.removeAll()
  precondition(cache.isEmpty)
  let fresh = Cache<Int, Int>()
  fresh[1] = 1
  precondition(fresh[1] == 1)
}
