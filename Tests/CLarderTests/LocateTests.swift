// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport
import Testing

/// What a reader that holds no lock counts when it goes from a slot id to an entry.
@Suite("Pages that readers locate")
struct LocateTests {
  @Test("A reader counts that a page number was given back, and that it was used again")
  func changesAreCounted() {
    let pool = CheckedPool(entryBytes: 1_000, alignment: 8)
    while pool.used.count < 6_000 { pool.take(8) }
    let id = pool.used[0]
    func locate() -> UInt64 {
      var changes: UInt64 = 0
      _ = lrd_pool_locate(pool.pool, id, &changes)
      return changes
    }
    let before = locate()
    #expect(lrd_pool_is_located(pool.pool, before))
    pool.give(.max) { $0 - 1 }
    #expect(!lrd_pool_is_located(pool.pool, before), "the page is gone")
    let between = locate()
    while pool.used.count < 6_000 { pool.take(8) }
    let isUsedAgain = pool.used.contains { $0 >> 17 == id >> 17 }
    #expect(isUsedAgain)
    #expect(!lrd_pool_is_located(pool.pool, between), "there was no page, and now there is one")
  }
}
