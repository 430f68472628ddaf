// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderObjects
import LarderTestSupport
import Testing

/// Discardable content in a typed cache whose values are released elsewhere.
@Suite("Discardable content, released elsewhere")
struct ReleaseElsewhereTests {
  /// Content that is gone, and runs an action when it is asked for.
  final class Gone: DiscardableContent, Sendable {
    let whenAsked: @Sendable () -> Void
    let life: Tracked

    init(_ life: Tracked, _ whenAsked: @escaping @Sendable () -> Void) {
      self.life = life
      self.whenAsked = whenAsked
    }

    func beginContentAccess() -> Bool {
      whenAsked()
      return false
    }
    func endContentAccess() {}
    func discardContentIfPossible() { whenAsked() }
    func isContentDiscarded() -> Bool { true }
  }

  @Test(
    "Asking for content, or discarding it, hands on values that leave meanwhile", arguments: 0..<3)
  func lentContent(kind: Int) {
    let tracker = LifetimeTracker()
    let batches = Protected<[ReleaseBatch<Gone>]>([])
    let home = Protected<Cache<String, Gone>?>(nil)
    @Sendable func releaseAll() {
      let taken = batches.withLock { batches in
        defer { batches = [] }
        return batches
      }
      for batch in taken { batch.release() }
    }
    let cache = Cache<String, Gone>(
      options: .init(release: .init { batch in batches.withLock { $0.append(batch) } }))
    home.withLock { $0 = cache }
    let isAsked = Protected(false)
    cache["key"] = Gone(tracker.make()) {
      isAsked.withLock { $0 = true }
      guard kind > 0 else { return }
      // It leaves the cache while it is asked, and whoever keeps it now has the last reference.
      home.withLock { $0 }?["key"] = nil
      home.withLock { $0 }?.reclaim()
      releaseAll()
    }
    if kind < 2 {
      #expect(cache.content(forKey: "key") == nil)
      #expect(cache.isEmpty)
    } else {
      cache.discardUnusedContent()
    }
    #expect(isAsked.withLock { $0 } && tracker.live == 1, "it died on the calling thread")
    home.withLock { $0 = nil }
    waitUntil("it is released") {
      cache.reclaim()
      releaseAll()
      return tracker.live == 0
    }
  }
}
