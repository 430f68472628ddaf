// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Larder
import LarderTestSupport
import Testing

@Suite("Calls in the background", .timeLimit(.minutes(20)))
struct BackgroundCallsTests {
  @Test("Each call does what its namesake does, off the main actor")
  @MainActor
  func eachCallRunsOffTheMainActor() async throws {
    let tracker = LifetimeTracker()
    // Not by the thread: where the main queue has none of its own, any thread may serve it, also
    // the one that serves the call.
    dispatchPrecondition(condition: .onQueue(.main))
    let cache = Cache<Int, Tracked>(
      policy: .lru,
      onRemoval: { _, _, _, _ in dispatchPrecondition(condition: .notOnQueue(.main)) })
    var held: [Tracked] = []
    for key in 0..<100 {
      let value = tracker.make(key)
      if key < 10 { held.append(value) }
      cache.insert(value, forKey: key, cost: key)
    }
    #expect(await cache.background.snapshot().map(\.key) == Array((0..<100).reversed()))
    await cache.background.trimCostliest(toCost: 99 * 100 / 2 - 99)
    #expect(cache.count == 99 && !cache.contains(99))
    await cache.background.trim(toCost: 4_000)
    #expect(cache.totalCost <= 4_000)
    await cache.background.removeAll { key, _ in key % 2 == 0 }
    #expect(cache.keys.allSatisfy { $0 % 2 == 1 })
    await #expect(throws: LifetimeTests.Oops.self) {
      try await cache.background.removeAll { _, _ in throw LifetimeTests.Oops() }
    }
    for key in 0..<10 { cache[key] = held[key] }
    let unheld = cache.keys.count { $0 >= 10 }
    #expect(await cache.background.removeUnreferenced() == unheld)
    await cache.background.trim(toCount: 5)
    #expect(cache.count == 5)
    await cache.background.removeAll()
    #expect(cache.isEmpty)
    held = []
    while tracker.live > 0 {
      await cache.background.reclaim()
      await Task.yield()
    }
    #expect(tracker.faults.isEmpty)
  }

  private enum Stop: Error { case here }

  @Test("A walk throws what its closure throws, and nothing else")
  func typedThrows() async {
    let cache = Cache<Int, Int>()
    for key in 0..<10 { cache[key] = key }
    do throws(Stop) {
      try cache.removeAll { key, _ throws(Stop) in
        if key >= 0 { throw .here }
        return true
      }
      Issue.record("nothing was thrown")
    } catch { #expect(error == .here) }
    do throws(Stop) {
      try await cache.background.removeAll { key, _ throws(Stop) in
        if key >= 0 { throw .here }
        return true
      }
      Issue.record("nothing was thrown")
    } catch { #expect(error == .here) }
    #expect(cache.count == 10)
  }
}
