// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport
import Larder
import LarderTestSupport
import Testing

@Suite("A walk while the tables change")
struct WalkTests {
  @Test("Every key that stays is asked about once while the table shrinks", arguments: [1, 4])
  func tableShrinks(shards: Int) {
    for _ in 0..<8 {
      let cache = Cache<Int, Int>(shards: shards)
      for key in 0..<9_600 { cache[key] = key }
      let large = cache.bucketCount
      var asked: [Int] = []
      cache.removeAll { key, _ in
        asked.append(key)
        guard asked.count == 500 else { return false }
        for key in 0..<9_600 where key % 40 != 0 { cache[key] = nil }
        waitUntil("the table has shrunk") { cache.bucketCount < large / 8 && !cache.isMoving }
        return false
      }
      #expect(Set(asked).count == asked.count, "nobody was asked about a key twice")
      #expect(Set(asked).isSuperset(of: stride(from: 0, to: 9_600, by: 40)))
      #expect(cache.count == 240)
      cache.checkInvariants()
    }
  }
}

@Suite("Tables that have moved", .timeLimit(.minutes(20)))
struct MovedTableTests {
  @Test("A thread that is alone frees a table with the insertion that ends its move")
  func noTableStays() async {
    await #expect(processExitsWith: .success) {
      let cache = Cache<Int, Int>(policy: .fifo, shards: 1)
      var moves = 0
      for key in 0..<40_000 {
        let moved = cache.isMoving
        cache[key] = key
        moves += moved && !cache.isMoving ? 1 : 0
        precondition(cache.retiredTables == 0, "a table stays after \(key)")
      }
      precondition(moves == 6, "to 16, 64, 256, 1024, 4096 and 8192 buckets, not \(moves) times")
    }
  }
}
