// SPDX-License-Identifier: Apache-2.0
import Foundation
import Larder
import LarderObjects
import LarderTestSupport
import Testing

/// Discardable content: the count of users, and what caches do with it.
@Suite("Discardable content")
struct DiscardableContentTests {
  typealias Page = Discardable<Tracked>
  typealias PageCache = ObjectCache<NSString, Page>

  /// A page that nobody uses.
  private func idlePage(_ payload: Int = 0, _ tracker: LifetimeTracker) -> Page {
    let page = Page(tracker.make(payload))
    page.endContentAccess()
    return page
  }

  @Test("Content is discarded only at a count of 0, and its memory goes with it")
  func discardedAtACountOfZero() {
    let tracker = LifetimeTracker()
    let page = Page(tracker.make(7))
    page.discardContentIfPossible()
    #expect(!page.isContentDiscarded() && page.content?.payload == 7)
    #expect(page.beginContentAccess())
    page.endContentAccess()
    page.discardContentIfPossible()
    #expect(!page.isContentDiscarded())
    page.endContentAccess()
    #expect(!page.isContentDiscarded())
    #expect(page.withContent { $0.payload } == 7)
    page.withContent { _ in page.discardContentIfPossible() }
    #expect(!page.isContentDiscarded())
    page.discardContentIfPossible()
    #expect(page.isContentDiscarded())
    #expect(tracker.live == 0)
    #expect(!page.beginContentAccess())
    #expect(page.content == nil && page.withContent { $0.payload } == nil)
    page.discardContentIfPossible()
    #expect(page.isContentDiscarded())
  }

  @Test("The deinit of content may use its box")
  func reentrantDiscard() {
    final class Home: @unchecked Sendable { var page: Page? }
    let tracker = LifetimeTracker()
    let home = Home()
    let asked = Protected(false)
    home.page = Page(
      tracker.make {
        asked.withLock { $0 = home.page?.isContentDiscarded() ?? false }
      })
    home.page?.endContentAccess()
    home.page?.discardContentIfPossible()
    #expect(asked.withLock { $0 })
  }

  @Test("Ending more accesses than were begun is an error in debug builds and ignored in others")
  func endedTooOften() async {
    #if DEBUG
      await #expect(processExitsWith: .failure) {
        let page = Discardable(1)
        page.endContentAccess()
        page.endContentAccess()
      }
      await #expect(processExitsWith: .failure) {
        let data = PurgeableData(Data([1]))!
        data.endContentAccess()
        data.endContentAccess()
      }
    #else
      let page = Discardable(1)
      let data = PurgeableData(Data([1]))!
      for _ in 0..<3 {
        page.endContentAccess()
        data.endContentAccess()
      }
      #expect(page.beginContentAccess() && data.beginContentAccess())
      page.discardContentIfPossible()
      data.discardContentIfPossible()
      #expect(page.content == 1 && data.data == Data([1]))
    #endif
  }

  @Test(
    "Leaving a cache discards content that nobody uses, and keeps content in use", arguments: 0..<5)
  func leavingACacheDiscards(kind: Int) {
    let tracker = LifetimeTracker()
    let cache = PageCache()
    let used = Page(tracker.make())
    let idle = idlePage(0, tracker)
    cache.setObject(used, forKey: "used", cost: 10)
    cache.setObject(idle, forKey: "idle", cost: 10)
    switch kind {
    case 0:
      cache.removeObject(forKey: "used")
      cache.removeObject(forKey: "idle")
    case 1: cache.removeAllObjects()
    case 2: cache.totalCostLimit = 1
    case 3:
      cache.setObject(Page(tracker.make()), forKey: "used")
      cache.setObject(Page(tracker.make()), forKey: "idle")
    default:
      cache.totalCostLimit = 50
      cache.setObject(used, forKey: "used", cost: 100)
      cache.setObject(idle, forKey: "idle", cost: 100)
    }
    #expect(!used.isContentDiscarded())
    #expect(idle.isContentDiscarded())
  }

  @Test("Storing the same object again discards nothing")
  func storedAgain() {
    let tracker = LifetimeTracker()
    let cache = PageCache()
    let idle = idlePage(0, tracker)
    cache.setObject(idle, forKey: "idle")
    cache.setObject(idle, forKey: "idle", cost: 10)
    #expect(!idle.isContentDiscarded())
    #expect(cache.object(forKey: "idle") === idle)
  }

  @Test("A discarded object is evicted when it is looked up, and not before")
  func evictedOnAccess() {
    let tracker = LifetimeTracker()
    let cache = PageCache()
    let witness = Witness()
    cache.delegate = witness
    let idle = idlePage(0, tracker)
    cache.setObject(idle, forKey: "idle", cost: 5)
    idle.discardContentIfPossible()
    #expect(ObjectCacheContents(of: cache).count == 1 && witness.evicted.isEmpty)
    #expect(cache.object(forKey: "idle") == nil)
    #expect(witness.evicted.count == 1 && witness.evicted.first === idle)
    #expect(ObjectCacheContents(of: cache).count == 0)
    #expect(ObjectCacheContents(of: cache).totalCost == 0)
    #expect(cache.object(forKey: "idle") == nil)
    #expect(witness.evicted.count == 1)
  }

  @Test("A discarded object is found if the cache was told to keep such objects")
  func keptOnAccess() {
    let tracker = LifetimeTracker()
    let cache = PageCache()
    cache.evictsObjectsWithDiscardedContent = false
    let idle = idlePage(0, tracker)
    cache.setObject(idle, forKey: "idle")
    idle.discardContentIfPossible()
    #expect(cache.object(forKey: "idle") === idle)
    cache.evictsObjectsWithDiscardedContent = true
    #expect(cache.object(forKey: "idle") == nil)
  }

  @Test("A lookup finds a discardable object that nobody uses, and it can be used again")
  func usedAgain() {
    let tracker = LifetimeTracker()
    let cache = PageCache()
    let idle = idlePage(3, tracker)
    cache.setObject(idle, forKey: "idle")
    let found = cache.object(forKey: "idle")
    #expect(found?.withContent { $0.payload } == 3)
  }

  @Test("Methods with the right names do not make an object discardable")
  func noDuckTyping() {
    final class Duck: NSObject {
      var asked = 0
      func isContentDiscarded() -> Bool {
        asked += 1
        return true
      }
      func discardContentIfPossible() { asked += 1 }
    }
    let cache = ObjectCache<NSString, Duck>()
    let duck = Duck()
    cache.setObject(duck, forKey: "duck")
    #expect(cache.object(forKey: "duck") === duck)
    cache.removeObject(forKey: "duck")
    #expect(duck.asked == 0)
  }

  @Test("A proxy keeps the content while it lives, and shows its properties")
  func proxyKeepsTheContent() {
    final class Picture: DiscardableContent {
      var width = 640
      var title = "cat"
      let page = Discardable(())
      func beginContentAccess() -> Bool { page.beginContentAccess() }
      func endContentAccess() { page.endContentAccess() }
      func discardContentIfPossible() { page.discardContentIfPossible() }
      func isContentDiscarded() -> Bool { page.isContentDiscarded() }
    }
    let picture = Picture()
    var proxy = picture.autoContentAccessingProxy
    picture.endContentAccess()
    picture.discardContentIfPossible()
    #expect(!picture.isContentDiscarded())
    #expect(proxy?.width == 640)
    proxy?.title = "dog"
    #expect(picture.title == "dog" && proxy?.content === picture)
    proxy = nil
    picture.discardContentIfPossible()
    #expect(picture.isContentDiscarded())
    #expect(picture.autoContentAccessingProxy == nil)
  }

  @Test("The typed cache begins accesses and removes values whose content is gone")
  func typedCache() {
    let tracker = LifetimeTracker()
    let cache = Cache<String, Page>(
      countLimit: 2, policy: .lru, onRemoval: Cache<String, Page>.discardingContent())
    let page = idlePage(1, tracker)
    cache["page"] = page
    var access = cache.content(forKey: "page")
    #expect(access?.content === page)
    cache.discardUnusedContent()
    #expect(!page.isContentDiscarded())
    access = nil
    cache.discardUnusedContent()
    #expect(page.isContentDiscarded() && cache.count == 1)
    #expect(cache.content(forKey: "page") == nil && cache.count == 0)
    #expect(cache.content(forKey: "page") == nil)
    let (used, idle) = (Page(tracker.make()), idlePage(0, tracker))
    cache["used"] = used
    cache["idle"] = idle
    cache.removeAll()
    #expect(!used.isContentDiscarded() && idle.isContentDiscarded())
  }

  @Test("Evicting a discarded object leaves one that was stored meanwhile")
  func storedMeanwhile() {
    /// Stores another object for its key when it is asked whether it is discarded.
    final class Racing: NSObject, DiscardableContent {
      var meanwhile: () -> Void = {}
      func beginContentAccess() -> Bool { false }
      func endContentAccess() {}
      func discardContentIfPossible() {}
      func isContentDiscarded() -> Bool {
        meanwhile()
        return true
      }
    }
    let cache = ObjectCache<NSString, NSObject>()
    let racing = Racing()
    let fresh = NSObject()
    racing.meanwhile = { cache.setObject(fresh, forKey: "key") }
    cache.setObject(racing, forKey: "key")
    #expect(cache.object(forKey: "key") == nil)
    #expect(cache.object(forKey: "key") === fresh)
  }
}
