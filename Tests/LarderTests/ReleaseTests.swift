// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Values die where the receiver releases their batch, and nowhere else.
@Suite("Release of values elsewhere", .timeLimit(.minutes(20)))
struct ReleaseTests {
  typealias TrackedCache = Cache<Int, Tracked>

  /// Keeps batches until told to release them.
  final class Sink: Sendable {
    private let batches = Protected<[ReleaseBatch<Tracked>]>([])

    var release: ValueRelease<Tracked> { release(pendingLimit: 0) }

    func release(pendingLimit: Int) -> ValueRelease<Tracked> {
      ValueRelease(pendingLimit: pendingLimit) { batch in
        self.batches.withLock { $0.append(batch) }
      }
    }

    var count: Int { batches.withLock { $0.count } }

    func releaseAll() {
      let taken = batches.withLock { batches in
        defer { batches = [] }
        return batches
      }
      for batch in taken {
        batch.release()
        batch.release()
      }
    }
  }

  /// Nothing has died yet, and everything dies when the receiver releases it.
  private func expectAllHandedOn(_ tracker: LifetimeTracker, _ sink: Sink) {
    #expect(tracker.destroyed == 0)
    waitUntil("all values are handed on") {
      sink.releaseAll()
      return tracker.live == 0
    }
    #expect(tracker.faults.isEmpty)
  }

  @Test("Values are released elsewhere on every path", arguments: [1, 4])
  func everyPath(shards: Int) {
    let tracker = LifetimeTracker()
    let sink = Sink()
    do {
      let cache = TrackedCache(
        countLimit: 10, totalCostLimit: 1_000, policy: .lru, shards: shards,
        onRemoval: { _, value, _, _ in precondition(value.isIntact) },
        onInsertion: { _, value, _ in precondition(value.isIntact) },
        options: .init(release: sink.release))
      for key in 0..<20 { cache.insert(tracker.make(key), forKey: key) }
      for key in 10..<20 { cache[key] = tracker.make(key) }
      cache[19] = nil
      cache.removeValue(forKey: 18)
      cache.updateValue(tracker.make(), forKey: 17)
      cache.insert(tracker.make(), forKey: 16, cost: 1_001)
      cache.updateValue(tracker.make(), forKey: 15, cost: 1_001)
      cache.trim(toCount: 4)
      cache.countLimit = 3
      cache.removeAll { key, _ in key == 13 }
      #expect(throws: LifetimeTests.Oops.self) {
        try cache.removeAll { _, _ in throw LifetimeTests.Oops() }
      }
      cache.removeUnreferenced()
      for key in 0..<3 { cache[key] = tracker.make(key) }
      #expect(
        throws: LifetimeTests.Oops.self,
        performing: {
          try cache.withValue(forKey: 2) { _ throws(LifetimeTests.Oops) -> Int in
            cache.removeAll()
            throw LifetimeTests.Oops()
          }
        })
      cache.reclaim()
      for key in 0..<3 { cache[key] = tracker.make(key) }
    }
    expectAllHandedOn(tracker, sink)
  }

  @Test("A value that a change in place leaves is released elsewhere")
  func changes() {
    let tracker = LifetimeTracker()
    let sink = Sink()
    do {
      let cache = TrackedCache(totalCostLimit: 10, options: .init(release: sink.release))
      let outcome = cache.modifyValue(forKey: 1, default: tracker.make(), cost: 11) { _ in }
      #expect(outcome == .tooCostly && tracker.live == 1)
      let cost = { (_: Tracked) in 11 }
      cache.updateValue(forKey: 2, cost: cost) { $0 = tracker.make() }
      #expect(tracker.live == 2)
      #expect(!cache.insert(tracker.make(), ifAbsentForKey: 3, cost: 11).inserted)
      #expect(tracker.live == 3)
      cache[4] = tracker.make()
      #expect(!cache.insert(tracker.make(), ifAbsentForKey: 4).inserted)
      #expect(tracker.live == 5)
    }
    expectAllHandedOn(tracker, sink)
  }

  @Test("A loaded value that nobody waits for is released elsewhere", arguments: [false, true])
  func loads(ofMany: Bool) async {
    let tracker = LifetimeTracker()
    let sink = Sink()
    let (begun, gate) = (Switch(), Switch())
    let make = { @Sendable () async -> Tracked in
      begun.turnOn()
      while !gate.isOn { try? await Task.sleep(for: .milliseconds(1)) }
      return tracker.make()
    }
    let loadAll = { @Sendable (keys: [Int]) async throws -> [Int: Tracked] in
      [keys[0]: await make()]
    }
    do {
      let cache = LoadingCache<Int, Tracked>(
        options: .init(release: sink.release), loadAll: ofMany ? loadAll : nil,
        load: { _ in await make() })
      let waits = Task { await cache.values(forKeys: [1]) }
      while !begun.isOn { try? await Task.sleep(for: .milliseconds(1)) }
      waits.cancel()
      _ = await waits.value
      // Outdates the load: its value is not stored.
      cache.cache.removeValue(forKey: 1)
      gate.turnOn()
      while cache.statistics.loads == 0 { try? await Task.sleep(for: .milliseconds(1)) }
    }
    waitUntil("the value is handed on") { sink.count > 0 || tracker.live == 0 }
    expectAllHandedOn(tracker, sink)
  }

  @Test("The values of a large cache come in batches")
  func largeCacheComesInBatches() async {
    await #expect(processExitsWith: .success) {
      let tracker = LifetimeTracker()
      let sink = Sink()
      do {
        let cache = TrackedCache(options: .init(release: sink.release))
        for key in 0..<10_000 { cache[key] = tracker.make(key) }
        cache.removeAll()
        precondition(sink.count == 40 && tracker.live == 10_000)
        sink.releaseAll()
        precondition(tracker.live == 0)
        for key in 0..<1_000 { cache[key] = tracker.make(key) }
      }
      precondition(sink.count == 4 && tracker.live == 1_000)
      sink.releaseAll()
      precondition(tracker.live == 0 && tracker.faults.isEmpty)
    }
  }

  @Test("Many threads and the background thread release elsewhere", arguments: [1, 4])
  func manyThreadsReleaseElsewhere(shards: Int) {
    let tracker = LifetimeTracker()
    let sink = Sink()
    do {
      let cache = TrackedCache(
        countLimit: 60, policy: .lru, shards: shards, onInsertion: { _, _, _ in },
        options: .init(release: sink.release))
      onThreads(4) { thread in
        var random = SplitMix64(seed: UInt64(thread))
        for step in 0..<Stress.scaled(10_000, atLeast: 500) {
          let key = random.below(150)
          switch random.below(8) {
          case 0: cache.removeValue(forKey: key)
          case 1: cache[key] = nil
          case 2: cache.withValue(forKey: key) { precondition($0.isIntact) }
          case 3: cache.updateValue(tracker.make(key), forKey: key)
          case 4 where step % 50 == 0: cache.removeAll { key, _ in key % 3 == 0 }
          case 5 where step % 100 == 0: cache.removeAll()
          default: cache[key] = tracker.make(key)
          }
        }
      }
    }
    expectAllHandedOn(tracker, sink)
  }

  @Test("Above the pending limit the caller releases its values itself")
  func backPressure() async {
    await #expect(processExitsWith: .success) {
      let tracker = LifetimeTracker()
      let sink = Sink()
      let cache = TrackedCache(
        countLimit: 5, policy: .lru, options: .init(release: sink.release(pendingLimit: 20)))
      for key in 0..<100 {
        cache[key] = tracker.make(key)
        precondition(tracker.live <= 25)
      }
      precondition(tracker.live == 25 && sink.count == 20)
      sink.releaseAll()
      precondition(tracker.live == 5)
      cache[100] = tracker.make(100)
      precondition(tracker.live == 6 && sink.count == 1)
    }
  }

  @Test("A batch may be dropped unreleased, and a receiver may use the cache")
  func oddReceivers() {
    let tracker = LifetimeTracker()
    let home = Protected<TrackedCache?>(nil)
    do {
      let cache = TrackedCache(
        countLimit: 5,
        options: .init(
          release: .init { batch in
            let cache = home.withLock { $0 }
            if cache?.removeValue(forKey: 3) != nil { batch.release() }
          }))
      home.withLock { $0 = cache }
      for key in 0..<100 { cache[key] = tracker.make(key) { home.withLock { $0 }?[1] = nil } }
      home.withLock { $0 = nil }
    }
    waitUntil("all values are released") { tracker.live == 0 }
    #expect(tracker.faults.isEmpty)
  }

  @Test("Values are released in the background, on the main actor and on an executor")
  func releaseOnEachExecutor() async {
    let tracker = LifetimeTracker()
    do {
      let cache = TrackedCache(countLimit: 2, options: .init(release: .mainActor))
      for key in 0..<50 {
        cache[key] = tracker.make(key) { MainActor.preconditionIsolated() }
      }
    }
    let executor = OwnThreads()
    do {
      let cache = TrackedCache(countLimit: 2, options: .init(release: .executor(executor)))
      for key in 0..<50 {
        cache[key] = tracker.make(key) { precondition(executor.isCurrent) }
      }
    }
    do {
      let cache = TrackedCache(countLimit: 2, options: .init(release: .background()))
      for key in 0..<50 { cache[key] = tracker.make(key) }
    }
    while tracker.live > 0 { await Task.yield() }
    #expect(tracker.faults.isEmpty)
  }

  @Test("A negative pending limit stops the process")
  func negativeLimit() async {
    await #expect(processExitsWith: .failure) {
      _ = ValueRelease<Int>(pendingLimit: -1) { $0.release() }
    }
  }
}

/// Runs each job on a thread of its own, and knows these threads.
private final class OwnThreads: TaskExecutor {
  private let current = Protected<[ThreadName]>([])

  var isCurrent: Bool { current.withLock { $0.contains(.current) } }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = asUnownedTaskExecutor()
    RealThread {
      let name = ThreadName.current
      self.current.withLock { $0.append(name) }
      job.runSynchronously(on: executor)
      self.current.withLock { $0.removeAll { $0 == name } }
    }.detach()
  }
}
