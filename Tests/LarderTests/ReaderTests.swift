// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Synchronization
import Testing

/// A reader delays the one value it was lent, and nothing else.
@Suite("Sleeping readers", .timeLimit(.minutes(20)))
struct ReaderTests {
  /// Lends `key` to a thread that holds it until `release` is set.
  private static func hold(
    _ cache: Cache<Int, Tracked>, _ key: Int, _ holding: borrowing Atomic<Int>,
    until release: borrowing Atomic<Bool>
  ) {
    let payload = cache.withValue(forKey: key) { lent in
      holding.add(1, ordering: .releasing)
      waitUntil(deadline: 300, "the reader is woken") { release.load(ordering: .acquiring) }
      precondition(lent.isIntact, "the lent value died")
      return lent.payload
    }
    precondition(payload == key, "the lent value changed")
  }

  @Test("A million evictions pass by a sleeping reader", arguments: [1, 4])
  func sleepingReader(shards: Int) {
    let resident = 1_000
    let tracker = LifetimeTracker()
    let cache = Cache<Int, Tracked>(countLimit: resident, shards: shards)
    for key in 0..<resident { cache[key] = tracker.make(key) }
    let lentID = cache.peek(forKey: 7)!.id
    let holding = Atomic<Int>(0)
    let release = Atomic<Bool>(false)
    // Beside those: what the background thread scans at the moment, of one shard.
    let bound = resident + 256 * (shards + 1) + 16
    let problems = Protected<[String]>([])
    onThreads(2, deadline: 600) { thread in
      if thread == 0 { return Self.hold(cache, 7, holding, until: release) }
      waitUntil("the reader holds its value") { holding.load(ordering: .acquiring) == 1 }
      tracker.resetPeak()
      for number in 0..<Stress.scaled(1_000_000, atLeast: 20_000) {
        // Half the keys are replaced while they are stored, and half push others out.
        let key = number % 2 == 0 ? number % 500 : number + resident
        cache[key] = tracker.make(key)
      }
      let waiting = cache.retiredCount
      cache.removeAll()
      // A value that the background thread is destroying at this moment may outlive one reclaim().
      _ = settles(tracker, at: 1, cache)
      let live = tracker.liveIDs
      precondition(live.contains(lentID), "the lent value died")
      problems.withLock {
        if waiting > 256 * shards { $0.append("\(waiting) entries wait") }
        if live != [lentID] { $0.append("\(live.count - 1) other values outlive reclaim()") }
      }
      release.store(true, ordering: .releasing)
    }
    #expect(problems.withLock { $0 } == [])
    #expect(tracker.peak <= bound, "\(tracker.peak) values were alive at once")
    #expect(settles(tracker, at: 0, cache))
    #expect(cache.retiredCount == 0)
    #expect(tracker.faults.isEmpty)
  }

  @Test("Many sleeping readers delay one value each")
  func manyReaders() {
    let readers = 32
    let tracker = LifetimeTracker()
    let cache = Cache<Int, Tracked>()
    for key in 0..<500 { cache[key] = tracker.make(key) }
    let holding = Atomic<Int>(0)
    let release = Atomic<Bool>(false)
    let counts = Protected<[Int]>([])  // the values alive once each removal has settled
    onThreads(readers + 1) { thread in
      if thread < readers { return Self.hold(cache, thread * 3, holding, until: release) }
      waitUntil("all readers hold") { holding.load(ordering: .acquiring) == readers }
      cache.removeAll()
      _ = settles(tracker, at: readers, cache)
      counts.withLock { $0.append(tracker.live) }
      for key in 0..<5_000 { cache[key] = tracker.make(key) }
      cache.removeAll()
      _ = settles(tracker, at: readers, cache)
      counts.withLock { $0.append(tracker.live) }
      release.store(true, ordering: .releasing)
    }
    #expect(counts.withLock { $0 } == [readers, readers])
    #expect(settles(tracker, at: 0, cache))
  }

  @Test("Readers of one value share it until the last one ends")
  func sharedLoan() {
    let tracker = LifetimeTracker()
    let cache = Cache<Int, Tracked>()
    let rounds = Stress.scaled(200, atLeast: 10)
    for _ in 0..<rounds {
      cache[1] = tracker.make(1)
      let holding = Atomic<Int>(0)
      let release = Atomic<Bool>(false)
      onThreads(4) { thread in
        if thread < 3 { return Self.hold(cache, 1, holding, until: release) }
        waitUntil("all readers hold") { holding.load(ordering: .acquiring) == 3 }
        if thread % 2 == 0 { cache[1] = nil } else { cache[1] = tracker.make(2) }
        cache.reclaim()
        release.store(true, ordering: .releasing)
      }
    }
    cache.removeAll()
    #expect(settles(tracker, at: 0, cache))
    #expect(tracker.faults.isEmpty)
  }

  @Test("A removed value is released soon even if nobody calls again")
  func releasedInTheBackground() {
    let tracker = LifetimeTracker()
    let cache = Cache<Int, Tracked>()
    onThreads(2) { thread in
      for key in 0..<100 { cache[thread * 100 + key] = tracker.make(key) }
    }
    cache.removeAll()
    waitUntil("removed values are released") { tracker.live == 0 }
    #expect(cache.isEmpty)
  }
}
