// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Observers and deinits run outside the locks and may call the cache that called them.
@Suite("Re-entrant calls", .timeLimit(.minutes(20)))
struct ReentrancyTests {
  typealias TrackedCache = Cache<Int, Tracked>

  /// A cache that its own callbacks can reach.
  final class Home: Sendable {
    private struct Reference {
      weak var cache: TrackedCache?
    }

    private let reference = Protected(Reference())

    var cache: TrackedCache? {
      get { reference.withLock { $0.cache } }
      set { reference.withLock { $0.cache = newValue } }
    }
  }

  @Test("An observer may read, insert, remove and trim", arguments: 0..<6)
  func observerCallsTheCache(kind: Int) {
    let tracker = LifetimeTracker()
    let home = Home()
    let calls = Protected(0)
    let cache = TrackedCache(countLimit: 8) { key, value, _, _ in
      let call = calls.withLock { count in
        count += 1
        return count
      }
      #expect(value.isIntact)
      guard let cache = home.cache, call < 300 else { return }
      switch kind {
      case 0: _ = cache.value(forKey: key)
      case 1: cache.insert(tracker.make(-1), forKey: key % 3 + 1_000)
      case 2: cache.removeValue(forKey: key + 1)
      case 3: cache.trim(toCount: 2)
      case 4: cache.removeAll()
      default: _ = (cache.snapshot(), cache.statistics, cache.count, cache.reclaim())
      }
    }
    home.cache = cache
    for key in 0..<200 {
      cache[key] = tracker.make(key)
      cache[key / 2] = tracker.make(key)
      #expect(cache.count <= 8)
    }
    cache.trim(toCount: 1)
    cache.removeAll()
    cache.checkInvariants()
    #expect(calls.withLock { $0 } > 200)
    home.cache = nil
    cache.removeAll()
    #expect(settles(tracker, at: 0, cache))
    #expect(tracker.faults.isEmpty)
  }

  @Test("The observer runs on the thread that caused the removal")
  func observerThread() {
    let threads = Protected<[ThreadName]>([])
    let cache = Cache<Int, Int>(countLimit: 1) { _, _, _, _ in
      threads.withLock { $0.append(.current) }
    }
    let caller = Protected<ThreadName?>(nil)
    onThreads(1) { _ in
      caller.withLock { $0 = .current }
      for key in 0..<100 { cache[key] = key }
      cache[99] = 0
      cache.removeAll()
    }
    let seen = threads.withLock { $0 }
    #expect(seen.count == 101)
    #expect(seen.allSatisfy { $0 == caller.withLock { $0 } })
  }

  @Test("A deinit may insert, remove, remove all, trim and read", arguments: 0..<6)
  func deinitCallsTheCache(kind: Int) {
    let tracker = LifetimeTracker()
    let home = Home()
    let calls = Protected(0)
    let cache = TrackedCache(countLimit: 8)
    home.cache = cache
    let reenter: @Sendable () -> Void = {
      let call = calls.withLock { count in
        count += 1
        return count
      }
      guard let cache = home.cache, call < 300 else { return }
      switch kind {
      case 0: cache.insert(tracker.make(-1), forKey: call % 30)
      case 1: cache.removeValue(forKey: call % 30)
      case 2: cache.removeAll()
      case 3: cache.trim(toCount: 3)
      case 4: _ = cache.withValue(forKey: call % 30) { #expect($0.isIntact) }
      default: cache.reclaim()
      }
    }
    for key in 0..<500 {
      cache[key % 30] = tracker.make(key, onRelease: reenter)
      #expect(cache.count <= 8)
    }
    cache.removeAll()
    cache.reclaim()
    #expect(calls.withLock { $0 } > 0)
    home.cache = nil
    cache.removeAll()
    cache.checkInvariants()
    #expect(settles(tracker, at: 0, cache))
    #expect(tracker.faults.isEmpty)
  }

  @Test("A deinit of one cache's value may use and drop another cache")
  func cachesHoldCaches() {
    let tracker = LifetimeTracker()
    do {
      let outer = Cache<Int, Cache<Int, Tracked>>(countLimit: 3)
      for key in 0..<50 {
        let inner = TrackedCache()
        for id in 0..<20 { inner[id] = tracker.make(id) }
        outer[key] = inner
      }
      #expect(settles(tracker, at: 60, outer))
    }
    #expect(tracker.live == 0)
    #expect(tracker.faults.isEmpty)
  }

  @Test("A predicate of removeAll(where:) may use the cache")
  func predicateCallsTheCache() {
    let tracker = LifetimeTracker()
    let cache = TrackedCache()
    for key in 0..<100 { cache[key] = tracker.make(key) }
    cache.removeAll { key, value in
      #expect(value.isIntact)
      if key % 10 == 0 { cache[1_000 + key] = tracker.make(key) }
      return key % 2 == 0
    }
    #expect((0..<100).allSatisfy { cache.contains($0) == ($0 % 2 == 1) })
    cache.checkInvariants()
    cache.removeAll()
    #expect(settles(tracker, at: 0, cache))
  }

  @Test("A long chain of values that release each other does not nest without end")
  func chainOfDeinits() {
    let tracker = LifetimeTracker()
    let home = Home()
    let cache = TrackedCache()
    home.cache = cache
    for key in 0..<2_000 {
      cache[key] = tracker.make(key) { home.cache?.removeValue(forKey: key + 1) }
    }
    cache.removeValue(forKey: 0)
    // If the release is deferred, each round releases at least the values whose turn has come.
    waitUntil("the chain is released") {
      cache.reclaim()
      return tracker.live == 0
    }
    #expect(cache.isEmpty)
    #expect(tracker.faults.isEmpty)
  }

  /// A stem of values that each insert and remove one when they are released, then a tree of values
  /// that insert two. The longer stem goes beyond the depth to which destructions nest.
  @Test("When values insert others as they die, only branches wait", arguments: [0, 40])
  func treeOfDeinits(stem: Int) {
    let tracker = LifetimeTracker()
    let home = Home()
    let cache = TrackedCache(countLimit: 1)
    home.cache = cache
    let height = 13
    @Sendable func make(_ depth: Int) -> Tracked {
      tracker.make(depth) {
        guard depth > 0 else { return }
        home.cache?[1] = make(depth - 1)
        if depth > height {
          home.cache?[1] = nil
        } else {
          home.cache?[2] = make(depth - 1)
        }
      }
    }
    cache[0] = make(stem + height)
    cache[1] = tracker.make()
    waitUntil("the tree is released") {
      cache.reclaim()
      return tracker.created > 1 << height && tracker.live <= 1
    }
    // If other threads use caches: the entries that may wait, those that reclaim() took, and a
    // handful for each of the 32 loops inside each other, here and on the background thread.
    #expect(tracker.peak <= 2 * 256 + 2 * 4 * 32)
    home.cache = nil
    cache.removeAll()
    #expect(settles(tracker, at: 0, cache))
    #expect(tracker.faults.isEmpty)
  }
}

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A number that tells threads apart.
struct ThreadName: Equatable, Sendable {
  private let number: UInt

  static var current: ThreadName {
    #if canImport(Glibc)
      ThreadName(number: UInt(pthread_self()))
    #else
      ThreadName(number: UInt(bitPattern: pthread_self()))
    #endif
  }
}
