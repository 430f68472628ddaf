// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// A cache and what it should hold, both changed by the predicate of a walk.
private struct Walked<Key: Hashable & Sendable> {
  let cache: Cache<Key, Int>
  let makeKey: (Int) -> Key
  var stored: [Int: Int] = [:]
  /// Keys that were stored during the whole walk so far.
  var constant: Set<Int> = []
  var asked: [Int] = []
  private var lastValue = 0

  init(shards: Int, makeKey: @escaping (Int) -> Key, count: Int) {
    cache = Cache(shards: shards)
    self.makeKey = makeKey
    for id in 0..<count { insert(id) }
    constant = Set(0..<count)
  }

  mutating func insert(_ id: Int) {
    lastValue += 1
    stored[id] = lastValue
    cache[makeKey(id)] = lastValue
  }

  mutating func remove(_ id: Int) {
    constant.remove(id)
    stored[id] = nil
    cache[makeKey(id)] = nil
  }

  /// Changes one entry or some.
  mutating func change(_ random: inout SplitMix64, asking id: Int, ids: Int) {
    let other = random.below(ids)
    switch random.below(8) {
    case 0, 1: insert(other)
    case 2: remove(other)
    case 3:
      remove(other)
      insert(other)
    case 4: insert(id)
    case 5: remove(id)
    case 6:
      // The slots of these two change hands.
      remove(id)
      remove(other)
      insert(other)
      insert(id)
    default: break
    }
    if random.below(4) == 0 { cache.reclaim() }
  }

  /// Removes some entries while `act` changes the cache, and looks at what was asked about.
  mutating func walk(_ id: (Key) -> Int, _ act: (inout Self, Int) -> Void) {
    cache.removeAll { key, value in
      let id = id(key)
      #expect(stored[id] == value, "the value of the moment")
      asked.append(id)
      act(&self, id)
      guard id % 3 == 0 else { return false }
      if stored[id] == value {
        stored[id] = nil
        constant.remove(id)
      }
      return true
    }
    check(removed: { $0 % 3 == 0 }, id)
  }

  private func check(removed: (Int) -> Bool, _ id: (Key) -> Int) {
    #expect(Set(asked).count == asked.count, "nobody was asked about a key twice")
    #expect(constant.subtracting(asked).isEmpty, "all keys that were there throughout")
    let left = cache.snapshot().map { (id($0.key), $0.value) }
    #expect(Dictionary(uniqueKeysWithValues: left) == stored)
    cache.checkInvariants()
  }
}

@Suite("A walk over all entries")
struct WalkTests {
  @Test("Every key that stays is asked about once, whatever the predicate does", arguments: [1, 4])
  func predicateChangesTheCache(shards: Int) {
    func play<Key: Hashable & Sendable>(
      _ count: Int, seed: UInt64, _ makeKey: @escaping (Int) -> Key, _ id: (Key) -> Int
    ) {
      var random = SplitMix64(seed: seed)
      var walked = Walked(shards: shards, makeKey: makeKey, count: count)
      walked.walk(id) { $0.change(&random, asking: $1, ids: count + 8) }
    }
    for count in [0, 1, 2, 7, 8, 40, 200] {
      for seed in 0..<UInt64(count < 40 ? 40 : 8) {
        play(count, seed: seed, { $0 }, { $0 })
        play(count, seed: seed, GroupedKey.init, \.id)
        play(count, seed: seed, Collider.init, \.id)
      }
    }
  }

  @Test("Every key that stays is asked about once while the table grows", arguments: [1, 4])
  func tableGrows(shards: Int) {
    for first in [0, 1, 63, 64, 200] {
      var walked = Walked(shards: shards, makeKey: { $0 }, count: 400)
      var next = 400
      walked.walk(\.self) { walked, _ in
        guard walked.asked.count > first else { return }
        for _ in 0..<40 where next < 6_000 {
          walked.insert(next)
          next += 1
        }
      }
      #expect(next == 6_000 && walked.constant.count == 266)
    }
  }

  private struct TrackedKey: Hashable, Sendable {
    let object: Tracked

    static func == (a: Self, b: Self) -> Bool { a.object.payload == b.object.payload }
    func hash(into hasher: inout Hasher) { hasher.combine(object.payload) }
  }

  @Test("A walk holds few keys, and the value it asks about", arguments: [1, 4])
  func keysInHand(shards: Int) {
    let (keys, values) = (LifetimeTracker(), LifetimeTracker())
    let cache = Cache<TrackedKey, Tracked>(shards: shards)
    for id in 0..<1_000 { cache[TrackedKey(object: keys.make(id))] = values.make(id) }
    var asked = 0
    cache.removeAll { key, value in
      asked += 1
      cache.removeAll()
      waitUntil("all but one slice is destroyed") {
        cache.reclaim()
        return keys.live <= 65 && values.live == 1
      }
      #expect(key.object.isIntact && value.isIntact)
      return true
    }
    #expect(asked == 1)
    waitUntil("everything is destroyed") {
      cache.reclaim()
      return keys.live == 0 && values.live == 0
    }
    #expect(keys.faults.isEmpty && values.faults.isEmpty)
  }

  @Test("Others write to the shard while the predicate waits for them")
  func writersGetTheLock() {
    let cache = Cache<Int, Int>(shards: 1)
    for key in 0..<500 { cache[key] = key }
    let turn = Protected(0)
    onThreads(2) { thread in
      if thread == 0 {
        var asked = 0
        cache.removeAll { key, _ in
          guard key < 500 else { return false }
          asked += 1
          turn.withLock { $0 = asked }
          waitUntil("the other thread has written") { turn.withLock { $0 == -asked } }
          return true
        }
        precondition(asked == 500)
      } else {
        for round in 1...500 {
          waitUntil("the predicate runs") { turn.withLock { $0 == round } }
          cache[1_000 + round] = round
          turn.withLock { $0 = -round }
        }
      }
    }
    #expect(Set(cache.keys) == Set(1_001...1_500))
    cache.checkInvariants()
  }
}
