// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Equal hashes are not equal keys.
@Suite("Keys with equal hashes")
struct CollisionTests {
  @Test("Hundreds of keys with one hash stay apart", arguments: [1, 4])
  func manyKeysOfOneHash(shards: Int) {
    let cache = Cache<Collider, Int>(shards: shards)
    for id in 0..<400 { #expect(cache.insert(id, forKey: Collider(id)) == .inserted) }
    cache.checkInvariants()
    for id in 0..<400 { #expect(cache[Collider(id)] == id) }
    #expect(cache[Collider(400)] == nil)
    for id in stride(from: 0, to: 400, by: 3) {
      #expect(cache.removeValue(forKey: Collider(id)) == id)
    }
    cache.checkInvariants()
    for id in 0..<400 { #expect(cache.contains(Collider(id)) == (id % 3 != 0)) }
    for id in 0..<400 {
      let expected: InsertionOutcome = id % 3 == 0 ? .inserted : .replaced
      #expect(cache.insert(-id, forKey: Collider(id)) == expected)
    }
    let keys = (0..<401).map { Collider($0) }
    #expect(cache.values(forKeys: keys) == (0..<400).map { -$0 } + [nil])
    #expect(cache.count == 400)
  }

  @Test("Eviction takes the coldest key of equal hashes")
  func evictionOrder() {
    let cache = Cache<Collider, Int>(countLimit: 100, policy: .lru)
    for id in 0..<100 { cache[Collider(id)] = id }
    for id in 0..<50 { #expect(cache[Collider(id)] == id) }
    for id in 100..<150 { cache[Collider(id)] = id }
    #expect(cache.snapshot().map(\.value) == (100..<150).reversed() + (0..<50).reversed())
    cache.checkInvariants()
  }

  @Test("Groups of colliding keys grow beside each other")
  func groupsOfCollidingKeys() {
    let cache = Cache<GroupedKey, Int>()
    for id in 0..<600 { cache[GroupedKey(id)] = id }
    cache.checkInvariants()
    #expect((0..<600).allSatisfy { cache[GroupedKey($0)] == $0 })
    cache.removeAll { key, _ in key.id % GroupedKey.groups == 2 }
    #expect((0..<600).allSatisfy { cache.contains(GroupedKey($0)) == ($0 % 5 != 2) })
    #expect(cache.count == 480)
  }

  @Test("removeAll(where:) asks about each key, whatever takes the slots meanwhile")
  func removeAllWhileSlotsAreReused() {
    for replaced in [[1, 0], [0, 1], [2, 1, 0], [1, 2, 1], [0, 0, 2, 2]] {
      let cache = Cache<Collider, String>()
      for id in 0..<3 { cache[Collider(id)] = "old" }
      var asked: [Int] = []
      cache.removeAll { key, _ in
        for id in asked.isEmpty ? replaced : [] {
          cache[Collider(id)] = "new"
          cache.reclaim()
        }
        asked.append(key.id)
        return true
      }
      #expect(asked.sorted() == [0, 1, 2])
      // The key that the predicate was asked about may have a value now that it was not asked
      // about.
      let first = asked.first.map(Collider.init)
      #expect(cache.snapshot().allSatisfy { $0.key == first && $0.value == "new" })
      cache.checkInvariants()
    }
  }
}
