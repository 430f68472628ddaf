// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport
import Larder
import LarderTestSupport
import Testing

/// Each allocation of the core fails in turn, and no stored entry may suffer from it.
///
/// The counter of failures belongs to the process, so each test runs in a process of its own.
@Suite("Allocation failures", .serialized, .timeLimit(.minutes(20)))
struct AllocationFailureTests {
  enum Bounds: String, CaseIterable, Codable, Sendable {
    case none, count, cost, both

    var countLimit: Int { self == .count || self == .both ? 40 : 0 }
    var costLimit: Int { self == .cost || self == .both ? 60 : 0 }
  }

  /// Runs the script while the allocation after `successes` others fails. Returns whether it did
  /// fail.
  private static func fails<Key: NumberedKey>(
    _: Key.Type, after successes: Int64, _ shards: Int, _ bounds: Bounds, keys: Int
  ) -> Bool {
    let tracker: LifetimeTracker
    do {
      let cache = FallibleCache<Key>(
        keys: 0..<keys, countLimit: bounds.countLimit, costLimit: bounds.costLimit, shards: shards)
      tracker = cache.tracker
      lrd_alloc_fail_after(successes)
      cache.runScript()
    }
    // The background thread may just be letting go of the cache.
    waitUntil("all values are released") { tracker.live == 0 }
    precondition(tracker.faults.isEmpty, "\(tracker.faults)")
    return !failureIsPending(within: successes + 1)
  }

  /// Uses up a failure that was asked for and has not come. Returns whether there was one.
  private static func failureIsPending(within successes: Int64) -> Bool {
    for _ in 0..<successes {
      guard let memory = lrd_alloc(64, 64) else { return true }
      lrd_free(memory, 64, 64)
    }
    return false
  }

  @Test(
    "A call that meets one failure changes nothing, and the next call works",
    arguments: [1, 4], Bounds.allCases)
  func oneFailure(shards: Int, bounds: Bounds) async {
    await #expect(processExitsWith: .success) {
      [shards = shards as Int, bounds = bounds as Bounds] in
      var runs: Int64 = 0
      while Self.fails(Int.self, after: runs, shards, bounds, keys: 110) { runs = next(runs) }
      precondition(runs > 5, "only \(runs) allocations")
    }
  }

  @Test(
    "That also holds if all hashes are equal, so that chains need overflow chunks",
    arguments: [1, 4])
  func oneFailureAmongColliders(shards: Int) async {
    await #expect(processExitsWith: .success) { [shards = shards as Int] in
      var runs: Int64 = 0
      while Self.fails(Collider.self, after: runs, shards, .none, keys: 90) { runs = next(runs) }
      precondition(runs > 5, "only \(runs) allocations")
    }
  }

  @Test("A cache survives a failure in every call", arguments: [1, 4], Bounds.allCases)
  func failureInEveryCall(shards: Int, bounds: Bounds) async {
    await #expect(processExitsWith: .success) {
      [shards = shards as Int, bounds = bounds as Bounds] in
      for successes in Int64(0)...3 {
        let refused = refusals(inEveryCallAfter: successes) {
          FallibleCache(
            keys: 0..<110, countLimit: bounds.countLimit, costLimit: bounds.costLimit,
            shards: shards)
        }
        precondition(successes > 0 || refused > 0, "nothing was refused")
      }
    }
  }

  @Test("A value for which there is no memory is released where values are to be released")
  func refusedElsewhere() async {
    await #expect(processExitsWith: .success) {
      var refusals = 0
      for successes in Int64(0)..<6 {
        let tracker = LifetimeTracker()
        let handed = Protected<[ReleaseBatch<Tracked>]>([])
        let cache = Cache<Int, Tracked>(
          onInsertion: { _, _, _ in },
          options: .init(release: .init { batch in handed.withLock { $0.append(batch) } }))
        lrd_alloc_fail_after(successes)
        let outcome = cache.insert(tracker.make(), forKey: 1)
        lrd_alloc_fail_after(-1)
        precondition(tracker.live == 1)
        guard outcome == .outOfMemory else { continue }
        refusals += 1
        for batch in handed.withLock({ $0 }) { batch.release() }
        precondition(tracker.live == 0)
      }
      precondition(refusals >= 2, "\(refusals) refusals: for want of an entry, and of a table")
    }
  }

  @Test("Without memory the core makes no cache and keeps no memory")
  func noMemoryNoCache() async {
    await #expect(processExitsWith: .success) {
      let failures = failuresBeforeACache(lrd_policy_of(LRD_POLICY_LRU))
      precondition(failures == 3, "\(failures) allocations make a cache")
    }
  }

  @Test("That also holds whatever the policy keeps", arguments: EvictionPolicy.allCases)
  func noMemoryNoCacheWithPolicy(policy: EvictionPolicy) async {
    await #expect(processExitsWith: .success) { [name = policy.rawValue as String] in
      let policy = EvictionPolicy(rawValue: name)!
      let failures = failuresBeforeACache(policy.core)
      let kept = policy.core.pointee.state_bytes > 0 ? 4 : 0
      precondition(failures >= 3 + kept, "\(failures) allocations make a cache")
    }
  }

  @Test("Policies go on without the memory they ask for", arguments: EvictionPolicy.allCases)
  func failureInEveryCallWithPolicy(policy: EvictionPolicy) async {
    await #expect(processExitsWith: .success) { [name = policy.rawValue as String] in
      let policy = EvictionPolicy(rawValue: name)!
      for successes in Int64(0)...2 {
        _ = refusals(inEveryCallAfter: successes) {
          FallibleCache(keys: 0..<110, countLimit: 40, costLimit: 60, policy: policy, shards: 1)
        }
      }
    }
  }

  @Test("A full cache whose first lifetime finds no memory goes on without it")
  func firstLifetime() async {
    await #expect(processExitsWith: .success) {
      var refused = 0
      for successes in 0..<Int64(12) {
        let cache = Cache<Int, Int>(countLimit: 400, shards: 4)
        for key in 0..<800 { cache[key] = key }
        lrd_alloc_fail_after(successes)
        let outcome = cache.insert(-1, forKey: -1, expiresAfter: .seconds(600))
        lrd_alloc_fail_after(-1)
        if outcome == .outOfMemory { refused += 1 }
        // Some shards may have a wheel, and others none.
        for key in 1_000..<2_000 { cache[key] = key }
        precondition(cache.count == 400)
        cache.checkInvariants()
        precondition(cache.insert(-2, forKey: -2, expiresAfter: .seconds(600)) == .inserted)
        precondition(cache.remainingLifetime(forKey: -2) != nil)
        cache.checkInvariants()
      }
      precondition(refused > 4, "only \(refused) were refused")
    }
  }

  @Test("Without memory a typed cache traps and says why")
  func typedCacheTraps() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      lrd_alloc_fail_after(0)
      _ = Cache<Int, Int>()
    }
    #if DEBUG
      let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
      #expect(message.contains("no memory for a cache"), "\(message)")
    #else
      _ = result
    #endif
  }

  @Test("A scan without room for all hazards counts everything as held")
  func hazardsWithoutMemory() async {
    await #expect(processExitsWith: .success) {
      let tracker = LifetimeTracker()
      let cache = Cache<Int, Tracked>()
      let readers = 40  // times 8 loans: more than a scan keeps on the stack
      for key in 0..<8 { cache[key] = tracker.make(key) }
      onThreads(readers + 1) { thread in
        func borrow(_ key: Int) {
          if key < 8 { return cache.withValue(forKey: key) { _ in borrow(key + 1) }! }
          Self.holding.withLock { $0 += 1 }
          waitUntil("readers are let go") { Self.holding.withLock { $0 < 0 } }
        }
        if thread < readers {
          _ = cache.peek(forKey: 0)
          cache.insert(tracker.make(), forKey: 100 + thread)
          return borrow(0)
        }
        waitUntil("all readers hold") { Self.holding.withLock { $0 == readers } }
        for key in 0..<8 { cache[key] = tracker.make(key) }
        lrd_alloc_fail_after(0)
        cache.reclaim()
        lrd_alloc_fail_after(-1)
        precondition((0..<8).allSatisfy { tracker.isLive($0) }, "a lent value died")
        Self.holding.withLock { $0 = -1 }
      }
      cache.removeAll()
      waitUntil("all values are released") {
        cache.reclaim()
        return tracker.live == 0
      }
      precondition(tracker.faults.isEmpty)
    }
  }

  private static let holding = Protected(0)
}

/// Where the work is scaled down, only the first allocations fail one by one.
private func next(_ runs: Int64) -> Int64 { runs + (runs < 20 ? 1 : Int64(Stress.divisor)) }

/// Runs the script with this many allocations in each call, then again with as many as it wants.
/// Returns how many insertions were refused. All values are released.
private func refusals(
  inEveryCallAfter successes: Int64, _ makeCache: () -> FallibleCache<Int>
) -> Int {
  let tracker: LifetimeTracker
  let refused: Int
  do {
    let cache = makeCache()
    cache.beforeCall = { lrd_alloc_fail_after(successes) }
    tracker = cache.tracker
    cache.runScript()
    lrd_alloc_fail_after(-1)
    refused = cache.refused
    cache.beforeCall = {}
    cache.runScript()
  }
  waitUntil("all values are released") { tracker.live == 0 }
  precondition(tracker.faults.isEmpty, "\(tracker.faults)")
  return refused
}

/// How many allocations fail, one more in each try, until a cache of four shards is created.
private func failuresBeforeACache(_ policy: UnsafePointer<lrd_policy>) -> Int64 {
  var failures: Int64 = 0
  while true {
    lrd_alloc_fail_after(failures)
    let cache = lrdt_cache_create_with(policy, 4, 48)
    lrd_alloc_fail_after(-1)
    if let cache {
      lrd_cache_close(cache)
      return failures
    }
    failures += 1
  }
}
