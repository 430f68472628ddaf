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
  static func withShadow(
    _ number: UInt32, _ capacity: UInt32, _ body: (UnsafeMutablePointer<lrd_shadow>) -> Void
  ) {
    let expert = lrdt_expert(number)
    let bytes = lrd_shadow_bytes(expert, capacity)
    let memory = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 8)
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: bytes)
    defer { memory.deallocate() }
    withUnsafeTemporaryAllocation(of: lrd_shadow.self, capacity: 1) { shadow in
      lrd_shadow_open(shadow.baseAddress!, expert, capacity, memory)
      body(shadow.baseAddress!)
    }
  }

  /// Stores an absent key.
  static func add(
    _ shadow: UnsafeMutablePointer<lrd_shadow>, _ key: Int, missed: Bool = false,
    demand: lrd_demand = LRD_DEMAND_PRESSING
  ) {
    lrd_shadow_add(shadow, mixed(key), missed, demand, false)
  }

  static func holds(_ shadow: UnsafeMutablePointer<lrd_shadow>, _ key: Int) -> Bool {
    lrd_shadow_use(shadow, mixed(key), 0)
  }

  /// Takes a probe through a shadow; returns the lookups that missed there.
  static func ask(_ probe: lrd_probe, _ shadow: UnsafeMutablePointer<lrd_shadow>) -> UInt32 {
    var probe = probe
    var question = lrd_probe_question(&probe)
    return lrd_question_ask(&question, shadow)
  }

  /// True when a key counts as hit: it outlives the other in a clock of two.
  static func isCredited(_ shadow: UnsafeMutablePointer<lrd_shadow>, _ key: Int) -> Bool {
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
      probe.loads = true
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
      for key in 0..<100 { lrd_shadow_remove(shadow, Self.mixed(key)) }
      for key in 100..<200 { Self.add(shadow, key) }
      #expect((100..<200).allSatisfy { Self.holds(shadow, $0) })
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
          lrd_shadow_remove(shadow, Self.mixed(key))
          present.remove(key)
        } else if !lrd_shadow_use(shadow, Self.mixed(key), 1) {
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
      (65_536, 1_024), (131_072, 1_024), (1_000_000, 7_812), (UInt64(1) << 40, 32_768),
    ]
    for (entries, keys) in sizes { #expect(lrd_advisor_shadow(entries) == keys) }
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
        if key == 0 { #expect(lrd_shadow_use(shadow, Self.mixed(0), 1)) }
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
