// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport
import Testing

/// The table in lrd_probe.h, row by row.
@Suite("Probes")
struct ProbeTests {
  struct Row: CustomTestStringConvertible {
    let heard: lrd_heard
    /// With the key in the shadow.
    let credited: Bool
    let stays: Bool
    /// Without.
    let missed: Bool
    let stored: Bool

    var testDescription: String { "kind \(heard.rawValue)" }
  }

  static let rows = [
    Row(heard: LRD_HEARD_HIT, credited: true, stays: true, missed: true, stored: false),
    Row(heard: LRD_HEARD_MISS, credited: true, stays: true, missed: true, stored: false),
    Row(heard: LRD_HEARD_LOAD, credited: true, stays: true, missed: true, stored: true),
    Row(heard: LRD_HEARD_STORE, credited: true, stays: true, missed: false, stored: true),
    Row(heard: LRD_HEARD_FILL, credited: false, stays: true, missed: false, stored: true),
    Row(heard: LRD_HEARD_REMOVAL, credited: false, stays: false, missed: false, stored: false),
  ]

  static func mixed(_ key: Int) -> UInt64 { lrd_hash_mix(UInt64(key) << 16) }

  /// Calls `body` with an empty shadow of `capacity` that follows expert `number`.
  static func withShadow(_ number: UInt32, _ capacity: UInt32, _ body: (Shadows) -> Void) {
    let shadows = Shadows([number], capacity: capacity)
    defer { shadows.deallocate() }
    body(shadows)
  }

  /// Stores an absent key.
  static func add(
    _ shadow: Shadows, _ key: Int, missed: Bool = false, demand: lrd_demand = LRD_DEMAND_PRESSING
  ) {
    shadow.add(mixed(key), missed: missed, demand: demand)
  }

  static func holds(_ shadow: Shadows, _ key: Int) -> Bool { shadow.use(mixed(key), hits: 0) }

  /// Takes a probe through a shadow; returns the lookups that missed there.
  static func ask(_ probe: lrd_probe, _ shadow: Shadows) -> UInt32 {
    var probe = probe
    var question = lrd_probe_question(&probe)
    let lacking = lrd_question_ask(&question, shadow.all)
    return lacking & shadow.asked != 0 ? question.misses : 0
  }

  /// True when a key counts as hit: it outlives the other in a clock of two.
  static func isCredited(_ shadow: Shadows, _ key: Int) -> Bool {
    add(shadow, 1_000, missed: true)
    add(shadow, 1_001, missed: true)
    return holds(shadow, key)
  }

  @Test("A probe does in a shadow what its row says", arguments: rows)
  func doesWhatItsRowSays(row: Row) {
    Self.withShadow(UInt32(LRD_EXPERT_CLOCK), 2) { shadow in
      Self.add(shadow, 1, missed: true)
      var probe = lrd_probe()
      probe.mixed = Self.mixed(1)
      probe.heard = UInt8(row.heard.rawValue)
      probe.hits = 1
      #expect(Self.ask(probe, shadow) == 0)
      #expect(Self.holds(shadow, 1) == row.stays)
      #expect(Self.isCredited(shadow, 1) == row.credited)
    }
    Self.withShadow(UInt32(LRD_EXPERT_CLOCK), 2) { shadow in
      var probe = lrd_probe()
      probe.mixed = Self.mixed(1)
      probe.heard = UInt8(row.heard.rawValue)
      probe.hits = 1
      #expect(Self.ask(probe, shadow) == (row.missed ? 1 : 0))
      #expect(Self.holds(shadow, 1) == row.stored)
    }
  }

  @Test("A hit that a shadow missed is stored there when the advisor says so")
  func storedHits() {
    Self.withShadow(UInt32(LRD_EXPERT_FIRST), 4) { shadow in
      var probe = lrd_probe()
      probe.mixed = Self.mixed(1)
      probe.hits = 5
      probe.stores = true
      #expect(Self.ask(probe, shadow) == 1 && Self.holds(shadow, 1))
    }
  }

  @Test("Each of several hits is a miss where nobody stores the key, and a hit where it is held")
  func severalHits() {
    Self.withShadow(UInt32(LRD_EXPERT_FIRST), 4) { shadow in
      var probe = lrd_probe()
      probe.mixed = Self.mixed(1)
      probe.hits = 2
      #expect(Self.ask(probe, shadow) == 2 && !Self.holds(shadow, 1))
      // Two hits take a key out of the younger half: it outlives others that were not hit.
      Self.add(shadow, 1)
      #expect(Self.ask(probe, shadow) == 0)
      for key in 2..<10 { Self.add(shadow, key) }
      #expect(Self.holds(shadow, 1))
    }
  }

  @Test("What all removed keys leave is room again", arguments: 0..<UInt32(LRD_EXPERTS))
  func removalOfAll(number: UInt32) {
    Self.withShadow(number, 100) { shadow in
      for key in 0..<100 { Self.add(shadow, key) }
      for key in 0..<100 { lrd_shadows_remove(shadow.all, Self.mixed(key)) }
      for key in 100..<200 { Self.add(shadow, key) }
      #expect((100..<200).allSatisfy { Self.holds(shadow, $0) })
      // It has filled that room as an empty shadow does: the same keys go.
      for key in 200..<230 { Self.add(shadow, key) }
      Self.withShadow(number, 100) { empty in
        for key in 100..<230 { Self.add(empty, key) }
        #expect((100..<230).allSatisfy { Self.holds(shadow, $0) == Self.holds(empty, $0) })
      }
    }
  }

  @Test("A ghost counts for a key that was missed, not for one that was only stored")
  func ghostsCountForMisses() {
    for missed in [false, true] {
      Self.withShadow(UInt32(LRD_EXPERT_FIRST), 100) { shadow in
        for key in 0..<120 { Self.add(shadow, key) }
        Self.add(shadow, 0, missed: missed)
        for key in 200..<299 { Self.add(shadow, key) }
        for key in 300..<320 { Self.add(shadow, key) }
        #expect(Self.holds(shadow, 0) == missed)
      }
    }
  }

  @Test("A shadow keeps what filled it where there is demand enough, and otherwise the newest")
  func fillsOnDemand() {
    for (number, least) in [(UInt32(0), LRD_DEMAND_SOME), (1, LRD_DEMAND_PRESSING)] {
      for demand in [LRD_DEMAND_NONE, LRD_DEMAND_SOME, LRD_DEMAND_PRESSING] {
        Self.withShadow(number, 100) { shadow in
          for key in 0..<1_000 { Self.add(shadow, key, demand: demand) }
          let kept = demand.rawValue >= least.rawValue ? 10..<100 : 900..<999
          #expect(kept.allSatisfy { Self.holds(shadow, $0) })
        }
      }
    }
  }

  @Test("Removed keys make room in any order", arguments: 0..<UInt32(LRD_EXPERTS))
  func removals(number: UInt32) {
    Self.withShadow(number, 50) { shadow in
      var state: UInt64 = 9
      var present: Set<Int> = []
      for _ in 0..<20_000 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let key = Int(state >> 33) % 90
        if state >> 60 < 5 {
          lrd_shadows_remove(shadow.all, Self.mixed(key))
          present.remove(key)
        } else if !shadow.use(Self.mixed(key)) {
          Self.add(shadow, key, missed: true)
          present.insert(key)
        }
        #expect(Self.holds(shadow, key) == present.contains(key))
      }
      let held = (0..<90).filter { Self.holds(shadow, $0) }
      #expect(held.count <= 50 && held.count > 20 && Set(held).isSubset(of: present))
    }
  }

  @Test("Small caches sample all or many of their keys, large ones a small part of them")
  func sizes() {
    let sizes: [(UInt64, UInt32)] = [
      (1, 1), (200, 200), (256, 256), (257, 256), (16_384, 256), (32_768, 512),
      (65_536, 1_024), (131_072, 1_024), (1_000_000, 7_812), (UInt64(1) << 40, 8_192),
    ]
    for (entries, keys) in sizes { #expect(lrd_advisor_shadow(entries) == keys) }
  }

  @Test(
    "Shadows share their keys, and each decides as if it were alone",
    arguments: [1, 7, 60, 100, 300])
  func independence(capacity: UInt32) {
    let numbers = Array(0..<UInt32(LRD_EXPERTS))
    let together = Shadows(numbers, capacity: capacity)
    let alone = numbers.map { Shadows([$0], capacity: capacity) }
    defer { for shadows in [together] + alone { shadows.deallocate() } }
    var state: UInt64 = 3
    func below(_ bound: UInt64) -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return (state >> 33) % bound
    }
    for request in 0..<20_000 {
      // Phases of random keys, of a loop, and of new keys.
      let range = UInt64(capacity) * 2 + 1
      let keys = [below(range), UInt64(request) % range, UInt64(request) + range]
      let mixed = Self.mixed(Int(keys[request / 1_000 % 3]))
      if below(20) == 0 {
        for shadows in [together] + alone { lrd_shadows_remove(shadows.all, mixed) }
        continue
      }
      let hits = UInt32(below(3))
      let held = lrd_shadows_use(together.all, mixed, hits)
      let lacking = alone.reduce(into: lrd_shadow_set(0)) {
        if !$1.use(mixed, hits: hits) { $0 |= $1.asked }
      }
      #expect(held == together.asked & ~lacking)
      guard lacking != 0 else { continue }
      let (missed, keeps) = (below(2) == 0, below(2) == 0)
      lrd_shadows_add(together.all, lacking, mixed, missed, LRD_DEMAND_SOME, keeps)
      for shadow in alone where shadow.asked & lacking != 0 {
        shadow.add(mixed, missed: missed, demand: LRD_DEMAND_SOME, keeps: keeps)
      }
    }
  }

  @Test("A removed key is the first to go, also in the middle of a queue that keeps its order")
  func removedYoungKey() {
    Self.withShadow(UInt32(LRD_EXPERT_AGE), 100) { shadow in
      for key in 0..<100 { Self.add(shadow, key) }
      // The older half are keys 0 to 49.
      lrd_shadows_remove(shadow.all, Self.mixed(50))
      Self.add(shadow, 100)
      #expect((0..<50).allSatisfy { Self.holds(shadow, $0) })
      for key in 101..<150 {
        Self.add(shadow, key)
        #expect(!Self.holds(shadow, key - 101) && Self.holds(shadow, key - 100))
      }
    }
  }

  @Test("Shadows without common keys hold fewer, and all they can hold once they have some again")
  func differentKeys() {
    let capacity: UInt32 = 20
    let numbers = Array(0..<UInt32(LRD_EXPERTS))
    let shadows = Shadows(numbers, capacity: capacity)
    defer { shadows.deallocate() }
    func held(_ keys: Range<Int>) -> [Int] {
      keys.map { lrd_shadows_use(shadows.all, Self.mixed($0), 0).nonzeroBitCount }
    }
    // Each key goes to one shadow.
    for key in 0..<1_000 {
      let one = lrd_shadow_set(1) << (4 * UInt32(key % numbers.count))
      lrd_shadows_add(shadows.all, one, Self.mixed(key), false, LRD_DEMAND_NONE, false)
    }
    let room = Int(LRD_SHADOW_KEYS) * Int(capacity)
    #expect(held(0..<1_000).reduce(0, +) <= room && held(0..<1_000).reduce(0, +) > room / 2)
    // Each key goes to all shadows.
    for key in 1_000..<2_000 { Self.add(shadows, key, demand: LRD_DEMAND_NONE) }
    #expect(held(0..<1_000).allSatisfy { $0 == 0 })
    #expect(held(1_981..<2_000).allSatisfy { $0 == numbers.count })
  }

  @Test("A key that ages forgets its hits, or keeps them", arguments: [false, true])
  func ageing(keeps: Bool) {
    Self.withShadow(UInt32(LRD_EXPERT_HALF), 100) { shadow in
      var probe = lrd_probe()
      probe.heard = UInt8(LRD_HEARD_STORE.rawValue)
      probe.keeps = keeps
      probe.hits = 1
      // A quarter of the shadow is young. What is old goes first.
      for key in 0..<200 {
        probe.mixed = Self.mixed(key)
        #expect(Self.ask(probe, shadow) == 0)
        if key == 0 { #expect(shadow.use(Self.mixed(0))) }
      }
      #expect(Self.holds(shadow, 0) == keeps)
    }
  }

  @Test("Next to nothing is loaded when fewer than one miss in 25 is followed by a store")
  func nothingLoaded() {
    func loadsNothing(_ loads: UInt32, of misses: UInt32) -> Bool {
      var heard = lrd_tally()
      (heard.misses, heard.loads) = (misses, loads)
      return lrd_tally_loads_nothing(&heard)
    }
    #expect(loadsNothing(0, of: 64) && loadsNothing(2, of: 64) && !loadsNothing(3, of: 64))
    #expect(loadsNothing(0, of: 8) && !loadsNothing(0, of: 7))
  }
}
