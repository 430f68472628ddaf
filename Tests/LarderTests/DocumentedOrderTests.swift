// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// What the documentation says of LRU and of entries without a cost, and nothing else: keys and
/// costs in an array, the most recently used first.
private struct DocumentedLRU {
  var entries: [(key: Int, cost: Int)] = []
  var countLimit: Int
  var costLimit: Int

  mutating func use(_ key: Int) -> Bool {
    guard let index = entries.firstIndex(where: { $0.key == key }) else { return false }
    entries.insert(entries.remove(at: index), at: 0)
    return true
  }

  /// "Insertion, replacement and every hit count as a use." "The new entry is never the victim of
  /// its own insertion." "Refused if it alone costs more than the limit", and its key is emptied.
  mutating func store(_ key: Int, cost: Int) {
    entries.removeAll { $0.key == key }
    if costLimit > 0 && cost > costLimit { return }
    if countLimit > 0 && entries.count == countLimit { entries.removeLast() }
    while costLimit > 0 && entries.reduce(cost, { $0 + $1.cost }) > costLimit { freeCost() }
    entries.insert((key, cost), at: 0)
  }

  /// "It goes behind others, as if it had just been used." "One such entry is evicted after
  /// sixteen in a row were passed over."
  private mutating func freeCost() {
    for _ in 0..<16 where entries.last!.cost == 0 {
      entries.insert(entries.removeLast(), at: 0)
    }
    entries.removeLast()
  }
}

@Suite("LRU as it is documented")
struct DocumentedOrderTests {
  @Test("A replacement that needs cost is the most recent entry")
  func costlierReplacement() {
    let cache = Cache<Int, Int>(totalCostLimit: 7, policy: .lru)
    for (key, cost) in [(7, 0), (2, 0), (8, 7), (2, 6)] { cache.insert(0, forKey: key, cost: cost) }
    #expect(cache.snapshot().map(\.key) == [2, 7])
    cache.countLimit = 1
    #expect(cache.snapshot().map(\.key) == [2])
  }

  // Not under ThreadSanitizer: one thread, for long.
  @Test("Random scripts with many entries without a cost agree with the documentation")
  func randomScripts() throws {
    for seed in 0..<UInt64(Stress.scaled(600, atLeast: 300)) {
      var random = SplitMix64(seed: seed)
      let limits = [(0, 7), (0, 20), (6, 12), (30, 25), (3, 9)][Int(seed) % 5]
      let cache = Cache<Int, Int>(countLimit: limits.0, totalCostLimit: limits.1, policy: .lru)
      var model = DocumentedLRU(countLimit: limits.0, costLimit: limits.1)
      let keys = 3 + random.below(40)
      for step in 0..<150 {
        let key = random.below(keys)
        let cost = random.below(3) == 0 ? random.below(limits.1 + 2) : 0
        if random.below(4) == 0 {
          #expect((cache[key] != nil) == model.use(key))
        } else {
          cache.insert(step, forKey: key, cost: cost)
          model.store(key, cost: cost)
        }
        let place = { "step \(step) of script \(seed), key \(key), cost \(cost)" }
        try same(cache.snapshot().map(\.key), model.entries.map(\.key), "order", place)
        try same(cache.snapshot().map(\.cost), model.entries.map(\.cost), "costs", place)
      }
    }
  }
}
