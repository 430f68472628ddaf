// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Synchronization
import Testing

/// Calls that took effect one after another must explain what threads saw.
@Suite("Concurrent calls", .timeLimit(.minutes(20)), .serialized)
struct ConcurrencyTests {
  struct Setting: Sendable, CustomTestStringConvertible {
    var threads: Int
    var keys: Int
    var shards = 1
    var countLimit = 0
    var costLimit = 0
    var mode = Linearizability.Mode.strict

    var testDescription: String {
      "\(threads) threads, \(keys) keys, \(shards) shards, limits \(countLimit) and \(costLimit)"
    }
  }

  static let settings = [
    Setting(threads: 2, keys: 1), Setting(threads: 4, keys: 2), Setting(threads: 4, keys: 50),
    Setting(threads: 8, keys: 8), Setting(threads: 4, keys: 16, shards: 4),
    Setting(threads: 4, keys: 8, countLimit: 4, mode: .evicting),
    Setting(threads: 4, keys: 60, countLimit: 20, mode: .evicting),
    Setting(threads: 4, keys: 16, costLimit: 20, mode: .evicting),
    Setting(threads: 4, keys: 32, shards: 4, countLimit: 16, mode: .evicting),
  ]

  @Test("Recorded histories are linearizable for each key", arguments: settings)
  func linearizable(setting: Setting) {
    for round in 0..<Stress.scaled(20, atLeast: 2) {
      let cache = Cache<Int, Int>(
        countLimit: setting.countLimit, totalCostLimit: setting.costLimit, shards: setting.shards)
      let histories = Protected<[[Call]]>([])
      onThreads(setting.threads) { thread in
        let calls = Self.run(setting, round, thread, on: cache)
        histories.withLock { $0.append(calls) }
      }
      let calls = histories.withLock { $0.flatMap { $0 } }
      let violation = Linearizability.violation(in: calls, mode: setting.mode)
      #expect(violation == nil, "round \(round), \(setting.testDescription)")
      cache.checkInvariants()
      if violation != nil { break }
    }
  }

  /// The calls of one thread. Thread and number identify every value written.
  private static func run(
    _ setting: Setting, _ round: Int, _ thread: Int, on cache: Cache<Int, Int>
  ) -> [Call] {
    var random = SplitMix64(seed: UInt64(round * 100 + thread))
    var history = HistoryRecorder(thread: thread, capacity: 1_000)
    for number in 0..<400 {
      let key = random.below(setting.keys)
      let value = thread * 1_000_000 + number
      let cost = setting.costLimit > 0 ? random.below(6) : 0
      let choice = random.below(20)
      history.record(key) {
        switch choice {
        case 0..<5: .read(cache.value(forKey: key))
        case 5..<8: .read(cache.withValue(forKey: key) { $0 })
        case 8..<9: .read(cache.peek(forKey: key))
        case 9..<10: .read(cache.values(forKeys: [key])[0])
        case 10..<14:
          .write(
            value, replaced: cache.insert(value, forKey: key, cost: cost) == .replaced)
        case 14..<16: .update(value, old: cache.updateValue(value, forKey: key, cost: cost))
        case 16..<17: .clear(cache, key)
        default: .remove(cache.removeValue(forKey: key))
        }
      }
    }
    return history.calls
  }

  @Test("Whole-cache removals never bring a value back", arguments: [1, 4])
  func removalsBringNothingBack(shards: Int) {
    for round in 0..<Stress.scaled(20, atLeast: 2) {
      let cache = Cache<Int, Int>(shards: shards)
      let histories = Protected<[[Call]]>([])
      let setting = Setting(threads: 3, keys: 6)
      onThreads(4) { thread in
        if thread == 3 {
          for number in 0..<60 {
            switch number % 3 {
            case 0: cache.removeAll()
            case 1: cache.removeAll { key, _ in key % 2 == 0 }
            default: cache.trim(toCount: 2)
            }
          }
        } else {
          let calls = Self.run(setting, round, thread, on: cache)
          histories.withLock { $0.append(calls) }
        }
      }
      let calls = histories.withLock { $0.flatMap { $0 } }
      #expect(Linearizability.violation(in: calls, mode: .evicting) == nil)
      cache.checkInvariants()
    }
  }

  @Test("A sampling thread never sees a limit exceeded", arguments: [1, 4])
  func strictLimits(shards: Int) {
    let cache = Cache<Int, Int>(countLimit: 64, totalCostLimit: 300, shards: shards)
    let working = Atomic<Int>(3)
    let worst = Protected((count: 0, cost: 0))
    onThreads(4) { thread in
      if thread == 3 {
        // Once more when the others have ended: they may do so before the first look.
        var ended = false
        while !ended {
          ended = working.load(ordering: .acquiring) == 0
          let (count, cost) = (cache.count, cache.totalCost)
          worst.withLock { $0 = (max($0.count, count), max($0.cost, cost)) }
        }
      } else {
        var random = SplitMix64(seed: UInt64(thread))
        for _ in 0..<Stress.scaled(40_000, atLeast: 1_000) {
          let key = random.below(500)
          if random.below(10) == 0 {
            cache.removeValue(forKey: key)
          } else {
            cache.insert(key, forKey: key, cost: random.below(9))
          }
        }
        working.subtract(1, ordering: .releasing)
      }
    }
    let seen = worst.withLock { $0 }
    #expect(seen.count <= 64 && seen.count > 0)
    #expect(seen.cost <= 300 && seen.cost > 0)
    #expect(cache.count <= 64 && cache.totalCost <= 300)
    cache.checkInvariants()
  }

  @Test("With every call at once, values stay intact and each dies once", arguments: [1, 4])
  func everyCallAtOnce(shards: Int) {
    let tracker = LifetimeTracker()
    let removed = Atomic<Int>(0)
    do {
      let cache = Cache<Int, Tracked>(countLimit: 100, shards: shards) { _, value, _, _ in
        precondition(value.isIntact, "the observer was given a dead value")
        removed.add(1, ordering: .relaxed)
      }
      onThreads(6) { thread in
        Self.storm(cache, tracker, seed: UInt64(thread), steps: Stress.scaled(20_000, atLeast: 500))
      }
      cache.checkInvariants()
      #expect(settles(tracker, at: cache.count, cache))
      let statistics = cache.statistics
      let gone = statistics.replacements + statistics.removals + statistics.evictions
      #expect(removed.load(ordering: .relaxed) == gone)
    }
    #expect(tracker.live == 0)
    #expect(tracker.faults.isEmpty)
  }

  private static func storm(
    _ cache: Cache<Int, Tracked>, _ tracker: LifetimeTracker, seed: UInt64, steps: Int
  ) {
    var random = SplitMix64(seed: seed)
    for step in 0..<steps {
      let key = random.below(250)
      switch random.below(32) {
      case 0..<8:
        if let value = cache.value(forKey: key) {
          precondition(value.isIntact && value.payload == key, "a stale value was read")
        }
      case 8..<14:
        cache.withValue(forKey: key) {
          precondition($0.isIntact && $0.payload == key, "a dead value was lent")
        }
      case 14..<16:
        for (at, value) in cache.values(forKeys: [key, key + 1, key + 2]).enumerated() {
          precondition(value == nil || value!.payload == key + at, "a batch was mixed up")
        }
      case 16..<26: cache.insert(tracker.make(key), forKey: key)
      case 26..<29: cache.removeValue(forKey: key)
      case 29: cache.reclaim()
      case 30: if step % 64 == 0 { cache.trim(toCount: 50) }
      default:
        if step % 256 == 0 { cache.removeAll() }
        if step % 64 == 1 { precondition(cache.snapshot().allSatisfy { $0.value.isIntact }) }
      }
    }
  }

  @Test("Limits may change while others write", arguments: [1, 4])
  func changingLimits(shards: Int) {
    let cache = Cache<Int, Int>(countLimit: 50, shards: shards)
    onThreads(4) { thread in
      var random = SplitMix64(seed: UInt64(thread))
      for step in 0..<Stress.scaled(10_000, atLeast: 500) {
        if thread == 0 {
          cache.countLimit = 10 + step % 90
          cache.totalCostLimit = step % 3 == 0 ? 0 : 100 + step % 100
        } else {
          cache.insert(step, forKey: random.below(300), cost: random.below(10))
        }
      }
    }
    cache.countLimit = 20
    cache.totalCostLimit = 60
    #expect(cache.count <= 20 && cache.totalCost <= 60)
    cache.checkInvariants()
  }
}

extension Call.Kind {
  /// Removes the key through the subscript.
  fileprivate static func clear(_ cache: Cache<Int, Int>, _ key: Int) -> Self {
    cache[key] = nil
    return .clear
  }
}
