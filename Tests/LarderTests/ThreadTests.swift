// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Threads come and go, and so do caches.
@Suite("Threads and their exits", .timeLimit(.minutes(20)))
struct ThreadTests {
  @Test("Thousands of short threads leave nothing behind")
  func shortThreads() {
    let tracker = LifetimeTracker()
    let cache = Cache<Int, Tracked>(countLimit: 64)
    let threads = Stress.scaled(4_000, atLeast: 200)
    for number in 0..<threads {
      let thread = RealThread {
        for step in 0..<20 {
          let key = (number * 7 + step) % 100
          if let value = cache[key] { precondition(value.isIntact) }
          cache[key] = tracker.make(key)
          cache.withValue(forKey: key) { precondition($0.isIntact) }
        }
      }
      thread.join()
    }
    cache.checkInvariants()
    #expect(cache.count == 64)
    #expect(settles(tracker, at: 64, cache))
    #expect(cache.statistics.insertions + cache.statistics.replacements == threads * 20)
  }

  @Test("Short threads may overlap")
  func overlappingThreads() {
    let tracker = LifetimeTracker()
    let cache = Cache<Int, Tracked>(countLimit: 64)
    for _ in 0..<Stress.scaled(60, atLeast: 4) {
      onThreads(40) { index in
        for step in 0..<50 {
          let key = (index + step * 3) % 150
          cache.withValue(forKey: key) { precondition($0.isIntact) }
          cache[key] = tracker.make(key)
        }
      }
    }
    cache.checkInvariants()
    #expect(settles(tracker, at: 64, cache))
  }

  @Test("The last hits of a thread count in the order once it has ended")
  func hitsOfEndedThreads() {
    let cache = Cache<Int, Int>(countLimit: 10, policy: .lru)
    for key in 0..<10 { cache[key] = key }
    RealThread { for key in 0..<3 { precondition(cache[key] == key) } }.join()
    for key in 10..<17 { cache[key] = key }
    #expect(cache.count == 10)
    #expect((0..<3).allSatisfy { cache.contains($0) })
    #expect((3..<10).allSatisfy { !cache.contains($0) })
  }

  @Test("Caches come and go while threads live")
  func manyCaches() {
    let tracker = LifetimeTracker()
    onThreads(4) { thread in
      for round in 0..<Stress.scaled(1_000, atLeast: 50) {
        let cache = Cache<Int, Tracked>(countLimit: 8, shards: round % 3 == 0 ? 4 : 1)
        for key in 0..<20 {
          cache[key] = tracker.make(key)
          _ = cache[key / 2]
        }
      }
    }
    waitUntil("dropped caches are released") { tracker.live == 0 }
    #expect(tracker.faults.isEmpty)
  }

  @Test("A thread may drop a cache that only others used")
  func cacheDroppedByAnotherThread() {
    let tracker = LifetimeTracker()
    for _ in 0..<Stress.scaled(300, atLeast: 20) {
      let box = Protected<Cache<Int, Tracked>?>(Cache(countLimit: 16))
      onThreads(4) { thread in
        let cache = box.withLock { $0 }
        for key in 0..<30 {
          cache?[key] = tracker.make(key)
          _ = cache?[key / 3]
        }
        if thread == 0 { box.withLock { $0 = nil } }
      }
    }
    waitUntil("dropped caches are released") { tracker.live == 0 }
    #expect(tracker.faults.isEmpty)
  }

  @Test("Many caches live at once")
  func manyLiveCaches() {
    let caches = (0..<500).map { Cache<Int, Int>(countLimit: 3, name: "\($0)") }
    onThreads(4) { _ in
      for (number, cache) in caches.enumerated() {
        for key in 0..<6 { cache[key] = number }
        precondition(cache.count == 3)
      }
    }
    for (number, cache) in caches.enumerated() {
      #expect(cache[5] == nil || cache[5] == number)
      #expect(cache.count == 3 && cache.name == "\(number)")
      cache.checkInvariants()
    }
  }

  @Test("Asynchronous tasks may share a cache across suspensions")
  func tasksShareACache() async {
    let cache = Cache<Int, Int>(countLimit: 50)
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<64 {
        group.addTask {
          for step in 0..<50 {
            cache[(task + step) % 80] = step
            await Task.yield()
            _ = cache[(task + step) % 80]
          }
        }
      }
    }
    #expect(cache.count == 50)
    cache.checkInvariants()
  }
}
