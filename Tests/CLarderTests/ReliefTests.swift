// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport
import Larder
import LarderTestSupport
import Testing

/// How often the allocator is asked to give memory back. With glibc's malloc it looks at every free
/// block each time, so that it must not be asked all the time.
@Suite("Giving memory back")
struct ReliefTests {
  private static func filled() -> Cache<Int, Int> {
    let cache = Cache<Int, Int>(countLimit: 100)
    for key in 0..<100 { cache[key] = key }
    return cache
  }

  @Test("A level that is confirmed gives memory back only for what has come since")
  func confirmed() async {
    await #expect(processExitsWith: .success) {
      let free = Self.filled()
      free.countLimit = 0
      var given = lrd_alloc_times_given_back()
      func expect(_ times: ClosedRange<UInt64>, _ work: () -> Void) {
        work()
        let now = lrd_alloc_times_given_back()
        #expect(times.contains(now - given))
        given = now
      }
      // Once more when the watcher thinks that readers have let go of everything.
      expect(1...2) { MemoryPressure.report(.warning) }
      expect(0...1) { for _ in 0..<100 { MemoryPressure.report(.warning) } }
      MemoryPressure.pass(hours: 1)
      given = lrd_alloc_times_given_back()
      expect(0...0) { for _ in 0..<100 { MemoryPressure.report(.warning) } }
      for key in 100..<200 { free[key] = key }
      expect(1...2) { MemoryPressure.report(.warning) }
      expect(1...3) { MemoryPressure.report(.critical) }
    }
  }

  @Test("A response that evicts when it is set gives memory back, and one that does not, does not")
  func setResponse() async {
    await #expect(processExitsWith: .success) {
      var caches: [Cache<Int, Int>] = []
      for _ in 0..<2 {
        caches.append(Self.filled())
        caches.last!.pressure = .ignore
      }
      func expectGiving(_ cache: Cache<Int, Int>, _ response: PressureResponse) {
        MemoryPressure.pass(hours: 1)
        var given = lrd_alloc_times_given_back()
        cache.pressure = response
        #expect(cache.count == 50)
        #expect(lrd_alloc_times_given_back() > given)
        MemoryPressure.pass(hours: 2)
        given = lrd_alloc_times_given_back()
        cache.pressure = response
        #expect(lrd_alloc_times_given_back() == given)
      }
      MemoryPressure.report(.warning)
      expectGiving(caches[0], .default)
      MemoryPressure.report(.normal)
      MemoryPressure.enterBackground()
      expectGiving(caches[1], PressureResponse(background: 0.5))
    }
  }

  @Test("A rising level gives back what the program has freed, also where no cache has anything")
  func rising() async {
    await #expect(processExitsWith: .success) {
      let given = lrd_alloc_times_given_back()
      MemoryPressure.report(.warning)
      MemoryPressure.report(.critical)
      #expect(lrd_alloc_times_given_back() - given >= 2)
    }
  }

  @Test("A relief evicts a 64th of a cache for each fence, which interrupts all readers")
  func fences() async {
    await #expect(processExitsWith: .success) {
      let tracker = LifetimeTracker()
      let cache = Cache<Int, Tracked>(shards: 1)
      for key in 0..<120_000 { cache[key] = tracker.make(key) }
      // A thread that is alone needs no fence.
      let sleeper = Sleeper { _ = cache.peek(forKey: 0) }
      let fences = lrdt_grace_draw()
      MemoryPressure.report(.critical)
      #expect(cache.count == 12_000)
      #expect(lrdt_grace_draw() - fences < 100)
      waitUntil("what was evicted is destroyed") { tracker.live == 12_000 }
      cache.checkInvariants()
      sleeper.join()
    }
  }

  @Test("Few fences interrupt readers while entries are moved together")
  func fencesOfAPass() async {
    await #expect(processExitsWith: .success) {
      func moved(_ cache: Cache<Int, Int>) -> UInt64 { cache.withCore { lrd_cache_moved($0) } }
      var cache: Cache<Int, Int>
      // Once more if the background thread has moved some before.
      repeat {
        cache = Cache(shards: 1)
        for key in 0..<120_000 { cache[key] = key }
        for key in 0..<120_000 where key % 6 != 0 { cache[key] = nil }
      } while moved(cache) > 0
      let fences = lrdt_grace_draw()
      cache.reclaim()
      #expect(moved(cache) > 10_000)
      #expect(lrdt_grace_draw() - fences < 10)
    }
  }

  @Test("A relief gives back in at most a fifth of its time")
  func pause() {
    #expect(lrdt_relief_pause(0) == 20_000_000)
    #expect(lrdt_relief_pause(5_000_000) == 20_000_000)
    #expect(lrdt_relief_pause(100_000_000) == 400_000_000)
  }
}
