// SPDX-License-Identifier: Apache-2.0
import Foundation
import Larder
import LarderObjects
import LarderTestSupport
import Testing

/// Objects that expire.
@Suite("Object cache lifetimes")
struct ObjectCacheLifetimesTests {
  private typealias TrackedCache = ObjectCache<NSNumber, Tracked>
  private typealias Lifetimes = ObjectCacheLifetimes<NSNumber, Tracked>

  final class Custom: ObjectCache<NSNumber, Tracked> {
    var ageLimit = 7
  }

  private let clock = ManualClock()
  private let tracker = LifetimeTracker()

  @Test("Objects leave after their time, and the delegate is told of each once")
  func age() {
    let witness = Witness()
    let cache = Lifetimes.makeCache(expiration: .afterWrite(.seconds(10)), clock: .manual(clock)) {
      TrackedCache()
    }
    cache.delegate = witness
    let lifetimes = Lifetimes(of: cache)
    for number in 0..<3 { cache.setObject(tracker.make(number), forKey: number as NSNumber) }
    lifetimes.setObject(tracker.make(3), forKey: 3, cost: 5, lifetime: .seconds(60))
    lifetimes.setObject(tracker.make(4), forKey: 4, lifetime: .zero)
    #expect(witness.payloads == [4])
    #expect(lifetimes.setLifetime(.seconds(30), forKey: 2))
    clock.advance(by: .seconds(10))
    #expect(cache.object(forKey: 0) == nil && cache.object(forKey: 2)?.payload == 2)
    #expect(lifetimes.remainingLifetime(forKey: 0) == nil)
    #expect(lifetimes.remainingLifetime(forKey: 2) ?? .zero > .seconds(19))
    #expect(ObjectCacheContents(of: cache).allObjects.map(\.payload).sorted() == [2, 3])
    lifetimes.removeExpiredObjects()
    #expect(witness.payloads.sorted() == [0, 1, 4])
    #expect(witness.caches.allSatisfy { $0 === cache })
    #expect(ObjectCacheContents(of: cache).count == 2)
    lifetimes.ageLimit = .seconds(1)
    cache.setObject(tracker.make(5), forKey: 5)
    clock.advance(by: .seconds(1))
    #expect(cache.object(forKey: 5) == nil && cache.object(forKey: 3)?.payload == 3)
  }

  @Test("An object that is stored again after its time keeps its content")
  func storedAgain() {
    typealias Contents = ObjectCache<NSNumber, Discardable<Int>>
    let cache = ObjectCacheLifetimes.makeCache(
      expiration: .afterWrite(.seconds(10)), clock: .manual(clock)
    ) { Contents() }
    let object = Discardable(7)
    let other = Discardable(8)
    object.endContentAccess()
    other.endContentAccess()
    for key in [1, 2] {
      cache.setObject(key == 1 ? object : other, forKey: key as NSNumber)
    }
    clock.advance(by: .seconds(10))
    #expect(cache.object(forKey: 1) == nil)
    cache.setObject(object, forKey: 1)
    #expect(object.content == 7 && cache.object(forKey: 1) === object)
    // One that takes the place of another does not save that.
    cache.setObject(object, forKey: 2)
    #expect(other.content == nil && object.content == 7)
  }

  @Test("Objects leave when they were not used for long")
  func idle() {
    let cache = Lifetimes.makeCache(clock: .manual(clock)) { Custom() }
    #expect(cache.ageLimit == 7)
    let lifetimes = Lifetimes(of: cache)
    #expect(lifetimes.ageLimit == nil && lifetimes.idleLimit == nil)
    lifetimes.idleLimit = .seconds(10)
    cache.setObject(tracker.make(1), forKey: 1)
    cache.setObject(tracker.make(2), forKey: 2)
    for _ in 0..<5 {
      clock.advance(by: .seconds(6))
      #expect(cache.object(forKey: 1) != nil)
    }
    #expect(cache.object(forKey: 2) == nil && lifetimes.idleLimit == .seconds(10))
  }

  @Test("The background thread tells of objects, and not of a cache that is being released")
  func background() {
    for round in 0..<3 {
      // Told by this thread as well, of what expires while it stores.
      let listener = Listener()
      func told() -> Int { listener.reports.withLock { $0.count } }
      do {
        let cache = Lifetimes.makeCache(expiration: .afterWrite(.milliseconds(10))) {
          TrackedCache()
        }
        cache.delegate = listener
        for number in 0..<100 { cache.setObject(tracker.make(number), forKey: number as NSNumber) }
        if round == 0 { waitUntil("all are told") { told() == 100 } }
      }
      waitUntil("all are released") { tracker.live == 0 }
      #expect(told() <= 100)
    }
    #expect(tracker.faults.isEmpty)
  }

  private struct Report: Equatable {
    let cache: ObjectIdentifier
    let payload: Int
  }

  /// A delegate that the background thread may tell, too.
  private final class Listener: NSObject, ObjectCacheDelegate, Sendable {
    let reports = Protected<[Report]>([])

    func cache(_ cache: ObjectCache<AnyObject, AnyObject>, willEvictObject obj: Any) {
      let report = Report(cache: ObjectIdentifier(cache), payload: (obj as! Tracked).payload)
      reports.withLock { $0.append(report) }
    }
  }

  @Test("Two threads that set a limit each lose neither")
  func twoLimits() {
    let cache = Lifetimes.makeCache(clock: .manual(clock)) { TrackedCache() }
    for number in 0..<100 { cache.setObject(tracker.make(number), forKey: number as NSNumber) }
    let lifetimes = Lifetimes(of: cache)
    nonisolated(unsafe) let shared = lifetimes
    onThreads(2) { thread in
      for step in 1...Stress.scaled(2_000, atLeast: 200) {
        let limit = step % 7 == 0 ? nil : Duration.seconds(100 + step)
        if thread == 0 {
          shared.ageLimit = limit
          precondition(shared.ageLimit == limit)
        } else {
          shared.idleLimit = limit
          precondition(shared.idleLimit == limit)
        }
      }
    }
    #expect(ObjectCacheContents(of: cache).count == 100)
  }

  @Test("Other caches can be given lifetimes, too", arguments: [false, true])
  func otherCaches(byLimit: Bool) {
    let listener = Listener()
    let cache = TrackedCache()
    cache.delegate = listener
    let lifetimes = Lifetimes(of: cache)
    #expect(lifetimes.remainingLifetime(forKey: 1) == nil && lifetimes.removeExpiredObjects() == 0)
    cache.setObject(tracker.make(1), forKey: 1)
    #expect(lifetimes.remainingLifetime(forKey: 1) == nil)
    (lifetimes.ageLimit, lifetimes.idleLimit) = (nil, nil)
    let start = Clock.now
    if byLimit {
      lifetimes.ageLimit = .milliseconds(20)
    } else {
      lifetimes.setObject(tracker.make(2), forKey: 1, lifetime: .milliseconds(20))
    }
    if let left = lifetimes.remainingLifetime(forKey: 1) {
      #expect(left <= .milliseconds(20))
    } else {
      #expect(Clock.now - start > 15_000_000, "it has expired")
    }
    waitUntil("the object is gone") { cache.object(forKey: 1) == nil }
    let told = (byLimit ? [1] : [1, 2]).map { Report(cache: ObjectIdentifier(cache), payload: $0) }
    waitUntil("the delegate was told") { listener.reports.withLock { $0 } == told }
    #expect(ObjectCacheContents(of: cache).count == 0)
  }
}
