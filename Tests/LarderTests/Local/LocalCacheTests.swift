// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

@Suite("Local cache")
struct LocalCacheTests {
  /// Neither Sendable nor copyable.
  struct Handle: ~Copyable {
    let tracked: Tracked
    var uses = 0
    init(_ tracked: Tracked) { self.tracked = tracked }
  }

  struct Refused: Error {}

  final class Counter { var number = 0 }

  @Test("Values that cannot be copied are lent, changed in place and taken back")
  func noncopyable() throws {
    let tracker = LifetimeTracker()
    do {
      let cache = LocalCache<String, Handle>(countLimit: 2)
      for (index, key) in ["a", "b", "c"].enumerated() {
        #expect(cache.insert(Handle(tracker.make(index)), forKey: key) == .inserted)
      }
      #expect(tracker.live == 2)
      let changed = cache.withMutableValue(forKey: "c") { handle in
        handle.uses += 2
        return handle.uses
      }
      #expect(changed == 2)
      let sum = cache.withValue(forKey: "c") { $0.uses + $0.tracked.payload }
      #expect(sum == 4)
      if let taken = cache.takeValue(forKey: "c") {
        let uses = taken.uses
        #expect(uses == 2)
      } else {
        Issue.record("nothing was taken")
      }
      #expect(cache.count == 1 && tracker.live == 1)
      var seen = 0
      func see(_ key: String, _ value: borrowing Handle, _ cost: Int) { seen += value.uses + 1 }
      cache.forEach(see)
      #expect(seen == 1)
    }
    #expect(tracker.live == 0)
    #expect(tracker.faults == [])
  }

  @Test("Values and keys need not be Sendable")
  func notSendable() {
    let cache = LocalCache<AnyHashable, Counter>(countLimit: 10)
    cache["one"] = Counter()
    cache[2] = Counter()
    cache["one"]?.number += 5
    #expect(cache[AnyHashable("one")]?.number == 5)
    #expect(Set(cache.keys) == ["one", 2])
  }

  @Test("A change in place copies nothing and keeps the cost")
  func inPlace() {
    let cache = LocalCache<Int, [Int]>(totalCostLimit: 100)
    cache.insert(Array(0..<1_000), forKey: 1, cost: 60)
    let before = cache.withValue(forKey: 1) { $0.withUnsafeBufferPointer { $0.baseAddress } }
    cache.withMutableValue(forKey: 1) { $0[7] = -1 }
    let after = cache.withValue(forKey: 1) { $0.withUnsafeBufferPointer { $0.baseAddress } }
    #expect(before == after)
    #expect(cache[1]?[7] == -1 && cache.totalCost == 60)
    cache[1]?.append(1)
    #expect(cache[1]?.count == 1_001 && cache.totalCost == 60)
    #expect(cache.withMutableValue(forKey: 2) { $0.count } == nil)
  }

  @Test("A value stays while it is on loan, whatever becomes of its entry")
  func loans() {
    let tracker = LifetimeTracker()
    let cache = LocalCache<Int, Tracked>(countLimit: 1)
    cache[1] = tracker.make(1)
    let sum = cache.withValue(forKey: 1) { value in
      cache[2] = tracker.make(2)
      cache[1] = tracker.make(3)
      cache.removeAll()
      #expect(tracker.live == 3 && cache.isEmpty)
      return cache.withValue(forKey: 9) { $0.payload } ?? value.payload
    }
    #expect(sum == 1)
    #expect(tracker.live == 0)
    #expect(tracker.faults == [])
    cache.checkInvariants()
  }

  @Test("Observers, closures and deinits may use the cache")
  func reentry() {
    let tracker = LifetimeTracker()
    final class Box { var cache: LocalCache<Int, Tracked>! }
    let box = Box()
    var told = 0
    let cache = LocalCache<Int, Tracked>(
      countLimit: 3,
      onRemoval: { key, value, _, _ in
        told += 1
        if value.isIntact, told < 50 { box.cache[key + 100] = tracker.make() }
      })
    box.cache = cache
    for key in 0..<40 { cache[key] = tracker.make() }
    #expect(told > 40 && cache.count == 3)
    cache.removeAll { key, _ in
      cache[key] = nil
      return true
    }
    func empty(_ key: Int, _ value: Tracked, _ cost: Int) { cache.removeAll() }
    cache.forEach(empty)
    cache.removeAll()
    cache.checkInvariants()
    #expect(tracker.live == 0)
    #expect(tracker.faults == [])
    box.cache = nil
  }

  @Test("Thousands that leave at once may use the cache in their deinits, and give memory back")
  func deinitsThatLookUp() {
    final class Asking {
      let cache: LocalCache<Int, Asking>
      init(_ cache: LocalCache<Int, Asking>) { self.cache = cache }
      // A stack for each of them would not be enough.
      deinit { cache.withValue(forKey: -1) { _ in } }
    }
    let cache = LocalCache<Int, Asking>()
    let empty = cache.memoryFootprint
    for key in 0..<100_000 { cache[key] = Asking(cache) }
    cache[-1] = Asking(cache)
    let full = cache.memoryFootprint
    cache.removeAll { key, _ in key >= 0 }
    #expect(cache.count == 1)
    cache.withValue(forKey: -1) { _ in cache.removeAll() }
    #expect(cache.isEmpty)
    #expect(cache.memoryFootprint - empty < (full - empty) / 10)
  }

  @Test("An error leaves closures as it came, and the cache usable")
  func errors() {
    let cache = LocalCache<Int, Int>()
    cache[1] = 1
    var thrown = 0
    do {
      try cache.withMutableValue(forKey: 1) { (value: inout Int) throws(Refused) in
        value = 2
        throw Refused()
      }
    } catch { thrown += 1 }
    do {
      try cache.withValue(forKey: 1) { (_: Int) throws(Refused) in throw Refused() }
    } catch { thrown += 1 }
    do {
      try cache.removeAll { (_: Int, _: Int) throws(Refused) in throw Refused() }
    } catch { thrown += 1 }
    #expect(thrown == 3)
    #expect(cache[1] == 2)
    #expect(cache.takeValue(forKey: 1) == 2)
  }

  @Test("The cost function is asked, and costs are kept where no room is set apart for them")
  func costs() {
    let asked = LocalCache<Int, String>(totalCostLimit: 10, cost: { $1.utf8.count })
    asked[1] = "four"
    asked[2] = "seven77"
    #expect(asked.keys == [2] && asked.totalCost == 7)
    #expect(asked.insert("far too long to keep", forKey: 2) == .tooCostly)
    #expect(asked.isEmpty && asked.statistics.refusals == 1)
    let plain = LocalCache<Int, Int>(policy: .lru)
    for key in 0..<5_000 { plain.insert(key, forKey: key, cost: key % 3) }
    #expect(plain.totalCost == (0..<5_000).reduce(0) { $0 + $1 % 3 })
    plain.removeAll { key, _ in key % 2 == 0 }
    for key in 0..<5_000 { plain.insert(key, forKey: key, cost: (key + 1) % 3) }
    #expect(plain.totalCost == (0..<5_000).reduce(0) { $0 + ($1 + 1) % 3 })
    #expect((0..<5_000).allSatisfy { plain.peek(forKey: $0) == $0 })
    plain.checkInvariants()
  }

  @Test("Memory goes back when entries leave")
  func memory() {
    let cache = LocalCache<Int, Int>(policy: .lru)
    let empty = cache.memoryFootprint
    for key in 0..<100_000 { cache[key] = key }
    #expect(cache.memoryFootprint > 100_000 * 32)
    for key in 0..<100_000 { cache[key] = nil }
    #expect(cache.memoryFootprint <= empty + 8_192)
    cache.checkInvariants()
  }

  @Test("A table grows no further than its count limit asks for")
  func limitedTable() {
    // Without a limit a table of 1,024 buckets, full with 8,192 entries, has 4,096 next.
    let limited = LocalCache<Int, Int>(countLimit: 9_000, policy: .fifo)
    let free = LocalCache<Int, Int>(policy: .fifo)
    for key in 0..<9_000 {
      limited[key] = key
      free[key] = key
    }
    #expect(limited.memoryFootprint <= free.memoryFootprint - 2_048 * 64)
    #expect((0..<9_000).allSatisfy { limited.peek(forKey: $0) == $0 })
    limited.checkInvariants()
  }
}
