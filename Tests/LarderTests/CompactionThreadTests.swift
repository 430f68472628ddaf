// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Synchronization
import Testing

/// Entries that are moved while others use them, and by the background thread.
@Suite("Compaction among threads", .timeLimit(.minutes(20)))
struct CompactionThreadTests {
  @Test("The background thread moves what is left when most have gone", arguments: [1, 4])
  func background(shards: Int) {
    let cache = Cache<Int, Int>(shards: shards)
    for key in 0..<Sparse.many { cache[key] = key }
    let full = Sparse.pool(cache)
    Sparse.thin(cache, keepingOneIn: 10)
    // The slots that this thread has at hand lie in all pages, and only the rest of these goes
    // back.
    let slots = 64 * 4_096
    waitUntil(deadline: 60, "the pool is dense") { Sparse.pool(cache) < full / 8 + slots }
    #expect(Sparse.moved(cache) > cache.count / 2)
    for key in 0..<Sparse.many { #expect(cache[key] == (key % 10 == 0 ? key : nil)) }
    cache.checkInvariants()
    // What is replaced all the time may be moved now and then: a move is paid for by an entry that
    // has left, or belongs to the pass that is under way.
    let before = Sparse.moved(cache)
    var replaced = 0
    for round in 0..<20 {
      for key in 0..<Sparse.many where key % 10 == 0 {
        cache[key] = round
        replaced += 1
      }
      for _ in 0..<200 { sleepBriefly() }
    }
    #expect(Sparse.moved(cache) - before <= replaced + cache.count)
    // Pages whose slots had been lost are given back in the end.
    cache.removeAll()
    // The background thread may have some of the last ones in hand.
    waitUntil(deadline: 60, "the pages are given back") {
      cache.reclaim()
      return Sparse.pool(cache) < 65_536
    }
  }

  enum Kind: String, CaseIterable, Codable, Sendable { case plain, timed, costly }

  // Not under ThreadSanitizer: one thread fills caches.
  @Test(
    "It looks in time, whatever it waits for, and however many slots entries take",
    arguments: Kind.allCases)
  func waits(kind: Kind) async {
    // One thread alone: what it removes is destroyed at once, and asks for no visit.
    await #expect(processExitsWith: .success) { [kind = kind as Kind] in
      let hour = Expiration.afterWrite(.seconds(3_600))
      let cache = Cache<Int, Int>(shards: 1, expiration: kind == .timed ? hour : .never)
      for key in 0..<Sparse.many {
        cache.insert(key, forKey: key, cost: kind == .costly ? 1 : 0)
      }
      let full = Sparse.pool(cache)
      // Let it come to rest: it then waits for the deadline, if there is one.
      for _ in 0..<1_000 { sleepBriefly() }
      // The table is not far too large for what is left, which would ask for a visit as well.
      for key in 0..<Sparse.many where key % 10 >= 3 { cache.removeValue(forKey: key) }
      waitUntil(deadline: 60, "the pool is dense") { Sparse.pool(cache) < full / 2 }
      cache.checkInvariants()
      for key in 0..<Sparse.many { precondition(cache[key] == (key % 10 < 3 ? key : nil)) }
    }
  }

  @Test("What threads that sleep have at hand keeps no page as a whole")
  func sleepers() {
    let cache = Cache<Int, Int>(shards: 1)
    for key in 0..<Sparse.many { cache[key] = key }
    let full = Sparse.pool(cache)
    let isOver = Atomic(false)
    let asleep = Atomic(0)
    onThreads(4) { thread in
      if thread == 3 {
        waitUntil("the others sleep") { asleep.load(ordering: .acquiring) == 3 }
        cache.reclaim()
        cache.checkInvariants()
        let slots = 3 * 33 * 4_096
        #expect(Sparse.pool(cache) < full / 8 + slots, "\(Sparse.pool(cache)) of \(full)")
        isOver.store(true, ordering: .releasing)
      } else {
        for key in 0..<Sparse.many where key % 10 != 0 && key % 3 == thread {
          cache.removeValue(forKey: key)
        }
        asleep.add(1, ordering: .acquiringAndReleasing)
        waitUntil("the pool is compact") { isOver.load(ordering: .acquiring) }
        for key in 0..<1_000 { cache[key + thread * 1_000 + Sparse.many] = key }
      }
    }
    #expect(cache.count == Sparse.many / 10 + 3_000)
    cache.checkInvariants()
    cache.removeAll()
    cache.reclaim()
  }

  @Test("Readers, borrowers and writers go on meanwhile", arguments: [1, 4], [false, true])
  func traffic(shards: Int, expires: Bool) {
    let tracker = LifetimeTracker()
    let cache = Cache<Int, Tracked>(
      policy: expires ? .lru : .default, shards: shards,
      expiration: expires ? .afterAccess(.seconds(1_000)) : .never)
    let many = Sparse.many / 4
    for round in 0..<Stress.scaled(20, atLeast: 4) {
      for key in 0..<many { cache[key] = tracker.make(key) }
      let isOver = Atomic(false)
      onThreads(4) { thread in
        var random = SplitMix64(seed: UInt64(4 * round + thread))
        if thread == 0 {
          for key in 0..<many where key % 10 != 0 { cache.removeValue(forKey: key) }
          for _ in 0..<3 { cache.reclaim() }
          isOver.store(true, ordering: .releasing)
        }
        while !isOver.load(ordering: .acquiring) {
          let key = random.below(many / 10) * 10
          switch (thread, random.below(4)) {
          case (1, 0): cache[key] = tracker.make(key)
          case (_, 1):
            let isThere = cache.withValue(forKey: key) {
              $0.isIntact && $0.payload == key && cache.peek(forKey: key)?.payload == key
            }
            precondition(isThere == true)
          default: precondition(cache[key]?.payload == key)
          }
        }
      }
      cache.checkInvariants()
      #expect(cache.count == many / 10)
      #expect(settles(tracker, at: many / 10, cache))
    }
    #expect(Sparse.moved(cache) > many / 10)
    cache.removeAll()
    #expect(settles(tracker, at: 0, cache))
    #expect(tracker.faults.isEmpty)
  }

  @Test("A cache that nobody visits is gone when it is given up")
  func givenUpAtOnce() async {
    // One thread alone: nobody else has a reference, unless the end itself asks for a visit.
    await #expect(processExitsWith: .success) {
      final class Witness: Sendable {}
      func make() -> (cache: Cache<Int, Int>, isGone: () -> Bool) {
        let witness = Witness()
        let release = ValueRelease<Int> { [witness] _ in _ = witness }
        let cache = Cache<Int, Int>(shards: 1, options: .init(release: release))
        return (cache, { [weak witness] in witness == nil })
      }
      var wasGone = false
      for _ in 0..<20 where !wasGone {
        var (cache, isGone): (Cache<Int, Int>?, () -> Bool) = make()
        for key in 0..<Sparse.many / 4 { cache![key] = key }
        for _ in 0..<200 { sleepBriefly() }
        cache = nil
        wasGone = isGone()
      }
      precondition(wasGone, "what it uses lives on each time")
    }
  }

  @Test("A cache may be given up while its entries are moved")
  func givenUp() {
    let tracker = LifetimeTracker()
    for round in 0..<Stress.scaled(10, atLeast: 2) {
      var cache: Cache<Int, Tracked>? = Cache(shards: 1 + round % 2)
      for key in 0..<Sparse.many / 4 { cache![key] = tracker.make(key) }
      for key in 0..<Sparse.many / 4 where key % 10 != 0 { cache![key] = nil }
      waitUntil("entries are moved") { Sparse.moved(cache!) > 0 }
      cache = nil
      waitUntil("all have died") { tracker.live == 0 }
    }
    #expect(tracker.faults.isEmpty)
  }
}
