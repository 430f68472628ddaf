// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Synchronization
import Testing

/// What the cache copies or looks at for its own purposes must not decide where a value dies, and
/// does not count as waiting for its release.
@Suite("Release elsewhere, and copies", .timeLimit(.minutes(20)))
struct ReleaseCopyTests {
  typealias TrackedCache = Cache<Int, Tracked>
  typealias Sink = ReleaseTests.Sink

  @Test("What a change copies where no loan is left is handed on")
  func copyWithoutLoan() {
    let tracker = LifetimeTracker()
    let sink = Sink()
    let cache = TrackedCache(options: .init(release: sink.release))
    for key in [1, 9] { cache[key] = tracker.make(key) }
    func nest(_ loans: Int, _ body: () -> Void) {
      if loans == 0 { return body() }
      cache.withValue(forKey: 9) { _ in nest(loans - 1, body) }
    }
    nest(40) {
      var runs = 0
      cache.modifyValue(forKey: 1) { value in
        runs += 1
        if runs == 1 {
          // Only the copy is left of the value that was found.
          cache[1] = tracker.make(2)
          cache.reclaim()
          sink.releaseAll()
        }
        value = tracker.make(value.payload + 10)
      }
    }
    #expect(tracker.destroyed == 0 && cache[1]?.payload == 12)
    waitUntil("all that left is handed on") {
      cache.reclaim()
      sink.releaseAll()
      return tracker.destroyed == 3
    }
  }

  @Test("A survivor that may not come back is handed on", arguments: [false, true])
  func lateSurvivorIsHandedOn(isReplaced: Bool) {
    let tracker = LifetimeTracker()
    let sink = Sink()
    let home = Protected<TrackedCache?>(nil)
    let held = Protected<Tracked?>(tracker.make(1))
    let isRestoring = Protected(false)
    var options = TrackedCache.Options(
      release: sink.release,
      shouldEvict: { _, _ in
        guard isRestoring.withLock({ $0 }) else { return true }
        isRestoring.withLock { $0 = false }
        // Key 1 is written to, and the object that was found for it loses all other references.
        home.withLock { $0 }?[1] = isReplaced ? tracker.make(3) : nil
        let last = held.withLock { $0.take() }
        withExtendedLifetime(last) {}
        return true
      })
    options.secondChances = 16
    let cache = TrackedCache(countLimit: 1, policy: .lru, options: options)
    home.withLock { $0 = cache }
    cache[1] = held.withLock { $0 }
    cache[2] = tracker.make(2)
    waitUntil("the eviction's own reference is gone") {
      cache.reclaim()
      sink.releaseAll()
      return cache.retiredCount == 0
    }
    isRestoring.withLock { $0 = true }
    let found = cache.survivingValue(forKey: 1)
    #expect(found?.payload == (isReplaced ? 3 : nil))
    #expect(tracker.isLive(0), "the survivor died on the thread that looked for it")
    home.withLock { $0 = nil }
    waitUntil("the survivor is released") {
      sink.releaseAll()
      return !tracker.isLive(0)
    }
    #expect(tracker.faults.isEmpty)
  }

  @Test("Looking for the dead among evicted objects kills none")
  func lookingForTheDeadKillsNone() {
    let tracker = LifetimeTracker()
    let sink = Sink()
    let inserter = Protected<ThreadName?>(nil)
    let strangers = Atomic(0)
    let pool = Protected<[Tracked]>([])
    let working = Atomic(true)
    do {
      var options = TrackedCache.Options(release: sink.release)
      options.secondChances = 64
      let cache = TrackedCache(countLimit: 4, policy: .lru, options: options)
      onThreads(2) { thread in
        guard thread == 0 else {
          while working.load(ordering: .acquiring) {
            sink.releaseAll()
            for _ in 0..<20 {
              let one = pool.withLock { $0.count > 40 ? $0.removeFirst() : nil }
              withExtendedLifetime(one) {}
            }
          }
          return
        }
        inserter.withLock { $0 = .current }
        for key in 0..<Stress.scaled(60_000, atLeast: 2_000) {
          let value = tracker.make(key) {
            if inserter.withLock({ $0 }) == .current { strangers.add(1, ordering: .relaxed) }
          }
          pool.withLock { $0.append(value) }
          cache[key] = value
          if key % 500 == 0 { cache.reclaim() }
        }
        working.store(false, ordering: .releasing)
      }
      inserter.withLock { $0 = nil }
    }
    #expect(strangers.load(ordering: .relaxed) == 0)
    pool.withLock { $0 = [] }
    waitUntil("all values are released") {
      sink.releaseAll()
      return tracker.live == 0
    }
    #expect(tracker.faults.isEmpty)
  }

  @Test("A value shown to the insertion observer does not wait for a release", arguments: [1, 4])
  func shownValues(shards: Int) async {
    await #expect(processExitsWith: .success) { [shards = shards as Int] in
      let tracker = LifetimeTracker()
      let sink = Sink()
      let cache = TrackedCache(
        countLimit: 100, policy: .lru, shards: shards,
        onInsertion: { key, value, _ in precondition(value.isIntact && value.payload == key) },
        options: .init(release: sink.release(pendingLimit: 1)))
      for key in 0..<100 { cache[key] = tracker.make(key) }
      precondition(sink.count == 0 && tracker.live == 100)
      cache[0] = tracker.make()
      precondition(sink.count == 1 && tracker.live == 101, "one place was free")
    }
  }

  @Test(
    "An observer sees a living value whatever becomes of it; afterwards it is released at once",
    arguments: [1, 4])
  func goneWhileShown(shards: Int) async {
    await #expect(processExitsWith: .success) { [shards = shards as Int] in
      let tracker = LifetimeTracker()
      let home = Protected<TrackedCache?>(nil)
      let cache = TrackedCache(
        countLimit: 8, policy: .lru, shards: shards,
        onInsertion: { key, value, _ in
          guard let cache = home.withLock({ $0 }) else { return }
          switch key {
          case 1: cache[1] = nil
          case 2: cache.removeAll()
          case 3: for other in 100..<150 { cache[other] = tracker.make(other) }
          case 4: cache.trim(toCount: 0)
          default: break
          }
          cache.reclaim()
          precondition(value.isIntact && value.payload == key)
        })
      home.withLock { $0 = cache }
      // At once, unless the background thread has just taken the entry that the loan had held up.
      var prompt = 0
      for step in 0..<100 {
        let key = step % 5 + 1
        cache[key] = tracker.make(key)
        prompt += tracker.live == cache.count ? 1 : 0
        waitUntil("what has left is released") { tracker.live == cache.count }
      }
      precondition(prompt > 60, "\(prompt) of 100 values were released at once")
      // Inside more loans than a thread has, the observer sees a copy.
      cache.removeAll()
      cache[0] = tracker.make(0)
      func nest(_ depth: Int) {
        if depth == 0 {
          cache[1] = tracker.make(1)
        } else {
          cache.withValue(forKey: 0) { _ in nest(depth - 1) }
        }
      }
      nest(40)
      waitUntil("what has left is released") {
        cache.reclaim()
        return tracker.live == 1
      }
      precondition(cache.count == 1 && tracker.faults.isEmpty)
      home.withLock { $0 = nil }
    }
  }

  @Test("A copy that stands in for a loan is handed on")
  func copyInsteadOfALoan() {
    let tracker = LifetimeTracker()
    let sink = Sink()
    let cache = TrackedCache(options: .init(release: sink.release))
    for key in 0..<40 { cache[key] = tracker.make(key) }
    func nest(_ depth: Int) {
      cache.withValue(forKey: depth) { value in
        if depth < 35 { return nest(depth + 1) }
        cache[depth] = nil
        waitUntil("the copy is the last reference") {
          cache.reclaim()
          sink.releaseAll()
          return cache.retiredCount == 0 && sink.count == 0
        }
        precondition(value.isIntact)
      }
    }
    nest(0)
    #expect(tracker.isLive(35))
    waitUntil("it is released") {
      sink.releaseAll()
      return tracker.live == 39
    }
  }

  /// One thread may release and does, one writes, and the others look. Equal hashes send lookups to
  /// the slow path.
  @Test("Lookups and lists that hand out no value, or few, kill none", arguments: [1, 4])
  func listsAndLookups(shards: Int) {
    let tracker = LifetimeTracker()
    let sink = Sink()
    let undertaker = Protected<ThreadName?>(nil)
    let strangers = Atomic(0)
    let working = Atomic(3)
    // The values in the lists belong to the caller, and must not die there in this test: the test
    // retains the objects.
    let handedOut = Protected<[UInt]>([])
    @Sendable func bury() {
      sink.releaseAll()
      let objects = handedOut.withLock { objects in
        defer { objects = [] }
        return objects
      }
      for object in objects {
        Unmanaged<Tracked>.fromOpaque(UnsafeRawPointer(bitPattern: object)!).release()
      }
    }
    do {
      let colliders = Cache<Collider, Tracked>(
        countLimit: 12, policy: .lru, shards: shards, options: .init(release: sink.release))
      let cache = TrackedCache(
        countLimit: 12, policy: .lru, shards: shards, options: .init(release: sink.release))
      onThreads(4) { thread in
        if thread == 0 {
          undertaker.withLock { $0 = .current }
          while working.load(ordering: .acquiring) > 0 {
            colliders.reclaim()
            cache.reclaim()
            bury()
          }
          return
        }
        var random = SplitMix64(seed: UInt64(thread))
        for _ in 0..<Stress.scaled(30_000, atLeast: 500) {
          let key = random.below(16)
          if thread == 1 {
            @Sendable func onRelease() {
              if undertaker.withLock({ $0 }) != .current { strangers.add(1, ordering: .relaxed) }
            }
            colliders[Collider(key)] = tracker.make(key, onRelease: onRelease)
            cache[key] = tracker.make(key, onRelease: onRelease)
          } else {
            _ = colliders.contains(Collider(key))
            _ = (colliders.keys.count, cache.keys.count)
            let objects = (thread == 2 ? cache.hottest(2) : cache.coldest(1)).map {
              UInt(bitPattern: Unmanaged.passRetained($0.value).toOpaque())
            }
            handedOut.withLock { $0 += objects }
          }
        }
        working.subtract(1, ordering: .releasing)
      }
      undertaker.withLock { $0 = .current }
    }
    waitUntil("all values are released") {
      bury()
      return tracker.live == 0
    }
    #expect(strangers.load(ordering: .relaxed) == 0)
    #expect(tracker.faults.isEmpty)
  }
}
