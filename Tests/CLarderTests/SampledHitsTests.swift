// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport
import Larder
import LarderTestSupport
import Testing

/// What the advisor hears of hits. In these caches every key is sampled.
@Suite("Hits on sampled entries")
struct SampledHitsTests {
  private let cache = Cache<Int, Int>(
    countLimit: 200, policy: .adaptive, shards: 1, options: .repeatable())

  private var heard: UInt32 { cache.withCore { lrdt_hits_heard($0) } }

  @Test("Replacing a value is no lookup", arguments: [1, 4, 10])
  func replacements(lookups: Int) {
    for key in 0..<1_000 { cache[key] = key }
    #expect(heard == 0)
    for _ in 0..<lookups { #expect(cache[999] == 999) }
    for key in 1_000..<1_200 {
      cache[key] = key
      cache[999] = 999
    }
    // What counts for an entry is three hits. More are heard if a poll comes in between.
    let before = heard
    #expect((1...lookups).contains(Int(before)))
    for key in 1_200..<4_000 {
      cache[key] = key
      cache[999] = 999
    }
    #expect(cache[999] == 999)
    #expect(heard == before)
    cache.checkInvariants()
  }

  @Test("A lookup after a replacement is heard")
  func lookupsAfterReplacements() {
    for key in 0..<1_000 { cache[key] = key }
    for round in 1...20 {
      for _ in 0..<10 { cache[999] = 999 }
      #expect(cache[999] == 999)
      for key in 0..<150 { cache[1_000 * round + key] = key }
      #expect(heard == round)
    }
  }

  @Test("In a small cache hits are heard before a quarter of it is inserted")
  func smallCache() {
    for key in 0..<1_000 { cache[key] = key }
    // It has hits enough to stay.
    for round in 0..<50 {
      cache[999] = 999
      for key in 0..<20 { cache[1_000 * (round + 1) + key] = key }
    }
    for round in 100..<140 {
      cache[999] = 999
      let before = heard
      #expect(cache[999] == 999)
      var insertions = 0
      while heard == before && insertions < 200 {
        cache[1_000 * round + insertions] = 0
        insertions += 1
      }
      #expect(insertions <= 50)
    }
  }

  @Test("Hits are kept with age only where next to nothing is loaded")
  func keptHits() {
    var keeps: Bool { cache.withCore { lrdt_keeps_hits($0) } }
    func missesWithoutLoads() {
      for key in 1_000..<2_000 {
        #expect(cache[key] == nil)
        cache[-key] = key
      }
    }
    for key in 0..<1_000 { cache[key] = key }
    #expect(!keeps)
    missesWithoutLoads()
    #expect(keeps)
    for key in 3_000..<3_200 where cache[key] == nil { cache[key] = key }
    #expect(!keeps)
    missesWithoutLoads()
    #expect(keeps)
    cache.removeAll()
    #expect(!keeps)
    // What was heard before does not count beside the first misses after it.
    for key in 1_000..<1_100 { #expect(cache[key] == nil) }
    for key in 0..<150 {
      cache[key] = key
      #expect(!keeps)
    }
  }
}
