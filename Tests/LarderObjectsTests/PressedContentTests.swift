// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderObjects
import LarderTestSupport
import Testing

/// Discardable content when memory runs short. The level is one of the process, so each test has a
/// process of its own.
@Suite("Discardable content under pressure")
struct PressedContentTests {
  typealias Page = Discardable<Tracked>

  /// A cache with pages that nobody uses.
  private static func filled(_ tracker: LifetimeTracker) -> Cache<Int, Page> {
    let cache = Cache<Int, Page>(countLimit: 100, policy: .lru)
    for key in 0..<100 {
      let page = Page(tracker.make(key))
      page.endContentAccess()
      cache[key] = page
    }
    return cache
  }

  @Test("What nobody uses goes first, though it is hotter than what is in use")
  func unusedGoesFirst() async {
    await #expect(processExitsWith: .success) {
      let tracker = LifetimeTracker()
      let cache = Self.filled(tracker)
      let uses = (0..<30).map { cache.content(forKey: $0)! }
      for key in 30..<100 { _ = cache[key] }
      MemoryPressure.report(.warning)
      #expect(cache.count == 50)
      #expect(uses.allSatisfy { cache.contains($0.content.content!.payload) })
      #expect(tracker.live == 50)
    }
  }

  @Test("A response may discard content and keep the entries")
  func discards() async {
    await #expect(processExitsWith: .success) {
      let tracker = LifetimeTracker()
      let cache = Self.filled(tracker)
      cache.pressure = PressureResponse { [weak cache] _ in
        cache?.discardUnusedContent()
        return .keepAll
      }
      let uses = (0..<30).map { cache.content(forKey: $0)! }
      MemoryPressure.report(.warning)
      #expect(cache.count == 100)
      #expect(tracker.live == 30)
      #expect(uses.allSatisfy { !$0.content.isContentDiscarded() })
    }
  }
}
