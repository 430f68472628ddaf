// SPDX-License-Identifier: Apache-2.0
import CLarder
import Larder
import LarderTestSupport
import Testing

/// The background thread shrinks tables, moves and frees them, and makes their successors ahead. A
/// process of its own for each test, as in "Maintenance".
@Suite("Maintenance of tables", .timeLimit(.minutes(20)))
struct TableMaintenanceTests {
  @Test("A table far too large for the entries left is shrunk", arguments: [1, 4])
  func shrinksLargeTables(shards: Int) async {
    await #expect(processExitsWith: .success) { [shards = shards as Int] in
      let cache = Cache<Int, Int>(shards: shards)
      for removal in 0..<3 {
        for key in 0..<20_000 { cache[key] = key }
        let buckets = cache.bucketCount
        precondition(buckets > 2_000)
        switch removal {
        case 0: for key in 100..<20_000 { cache[key] = nil }
        case 1: cache.trim(toCount: 100)
        default: cache.removeAll { key, _ in key >= 100 }
        }
        waitUntil("the tables shrink") { cache.bucketCount < 300 }
        precondition(cache.count == 100)
        cache.checkInvariants()
        if removal != 1 { precondition((0..<100).allSatisfy { cache[$0] == $0 }) }
      }
    }
  }

  @Test("A table emptied while it grows is shrunk as well", arguments: [1, 4])
  func shrinksMovingTables(shards: Int) async {
    await #expect(processExitsWith: .success) { [shards = shards as Int] in
      let cache = Cache<Int, Int>(shards: shards)
      var key = 0
      // Some thousand entries, and then until a full table begins to move.
      while key < 4_160 * shards || !cache.isMoving {
        cache[key] = key
        key += 1
      }
      for key in 10..<key { cache[key] = nil }
      waitUntil("the tables shrink") { cache.bucketCount <= 16 * shards }
      cache.checkInvariants()
      precondition((0..<10).allSatisfy { cache[$0] == $0 })
    }
  }

  @Test("A table with one long chain is shrunk as well")
  func shrinksLongChains() async {
    await #expect(processExitsWith: .success) {
      let cache = Cache<Collider, Int>()
      for key in 0..<1_000 { cache[Collider(key)] = key }
      for key in 100..<1_000 { cache[Collider(key)] = nil }
      // The chain needs more overflow buckets than a small table brings along.
      waitUntil("the table shrinks") { cache.bucketCount < 100 }
      cache.checkInvariants()
      precondition((0..<100).allSatisfy { cache[Collider($0)] == $0 })
    }
  }

  @Test("A table shrinks at once, even if a thread goes on inserting a little")
  func shrinksBesideWriters() async {
    await #expect(processExitsWith: .success) {
      let cache = Cache<Int, Int>(shards: 1)
      for key in 0..<200_000 { cache[key] = key }
      cache.trim(toCount: 100)
      // Each insertion moves a bucket, so it would take 32,768 of them.
      var key = 200_000
      waitUntil("the table shrinks") {
        cache[key] = key
        key += 1
        return cache.bucketCount < 2_000
      }
      precondition(key < 220_000, "the table was left to \(key - 200_000) insertions")
      cache.checkInvariants()
    }
  }

  @Test("A large table has its successor before it is full, and is freed in the background")
  func makesSuccessorsAhead() async {
    await #expect(processExitsWith: .success) {
      let cache = Cache<Int, Int>(shards: 1)
      // 8 * 16384 entries fill the first large table. A thread asks for the next one at seven
      // eighths.
      for key in 0..<114_688 { cache[key] = key }
      precondition(cache.bucketCount == 16_384)
      cache[114_688] = 114_688
      waitUntil("the successor is there") { cache.bucketCount == 32_768 }
      // Nobody writes, so the background thread moves everything.
      waitUntil("the table has moved") { !cache.isMoving }
      waitUntil("the table is freed") { cache.retiredTables == 0 }
      cache.checkInvariants()
      // The next table grows while insertions move it.
      for key in 114_689..<275_000 { cache[key] = key }
      waitUntil("the table is freed") { !cache.isMoving && cache.retiredTables == 0 }
      precondition(cache.bucketCount == 65_536)
      cache.checkInvariants()
      precondition((0..<275_000).allSatisfy { cache[$0] == $0 })
    }
  }

  @Test("A table is shrunk even if memory was missing at first")
  func shrinksWithoutMemoryAtFirst() async {
    await #expect(processExitsWith: .success) {
      let cache = Cache<Int, Int>(shards: 1)
      for key in 0..<20_000 { cache[key] = key }
      waitUntil("the table has moved") { !cache.isMoving && cache.retiredTables == 0 }
      // The next allocation of the core is that of the smaller table.
      lrd_alloc_fail_after(0)
      cache.trim(toCount: 100)
      waitUntil("the table shrinks") { cache.bucketCount < 300 }
    }
  }

  @Test("The tables of all shards are freed after removeAll()")
  func freesAllTables() async {
    await #expect(processExitsWith: .success) {
      let cache = Cache<Int, Int>(shards: 4)
      // So few that no table has grown, and nobody has asked for a visit.
      for key in 0..<16 { cache[key] = key }
      cache.removeAll()
      waitUntil("the tables are freed") { cache.retiredTables == 0 }
    }
  }
}
