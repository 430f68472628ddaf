// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Measures hits on every key in random order. First the keys are the stored key objects, and the
/// ratio is held to `bar`. Then they are others that are equal, where Foundation's own comparison
/// dominates.
func measureHits<Key: AnyObject>(
  _ name: String, _ count: Int, samples: Int, into report: inout Report, bar: Double?,
  _ make: (Int) -> Key
) {
  let keys = (0..<count).map(make)
  let theirs = FoundationCache<Key>()
  let ours = LarderCache<Key>()
  for (number, key) in keys.enumerated() {
    theirs.setObject(Payload(number), forKey: key, cost: 0)
    ours.setObject(Payload(number), forKey: key, cost: 0)
  }
  var random = Random(seed: 42)
  let order = Array(0..<count).shuffled(using: &random)
  for (kind, probes) in [("", order.map { keys[$0] }), (", equal key", order.map(make))] {
    var results: (theirs: [Sample], ours: [Sample]) = ([], [])
    for _ in 0..<samples {
      results.theirs.append(hits(theirs, probes))
      results.ours.append(hits(ours, probes))
    }
    report.add(
      "hit, \(name), \(count) entries\(kind)", results.theirs, results.ours,
      bar: kind.isEmpty ? bar : nil)
  }
  theirs.removeAllObjects()
}

private func hits<Cache: Rival>(_ cache: Cache, _ keys: [Cache.Key]) -> Sample {
  let rounds = max(1, 200_000 / keys.count)
  return Sample.of(rounds * keys.count) {
    var found = 0
    for _ in 0..<rounds {
      for key in keys { if let object = cache.object(forKey: key) { found += object.number & 1 } }
    }
    consume(found)
  }
}

/// Measures insertions of new keys at random costs into caches of `count` entries.
func measureInsertions(
  _ count: Int, samples: Int, into report: inout Report, bar: Double? = nil
) {
  var results: (theirs: [Sample], ours: [Sample]) = ([], [])
  for sample in 0..<samples {
    results.theirs.append(insertions(FoundationCache<NSNumber>(), count, seed: UInt64(sample)))
    results.ours.append(insertions(LarderCache<NSNumber>(), count, seed: UInt64(sample)))
  }
  report.add(
    "insert, random cost, \(count) entries", results.theirs, results.ours, bar: bar)
}

private func insertions<Cache: Rival>(_ cache: Cache, _ count: Int, seed: UInt64) -> Sample
where Cache.Key == NSNumber {
  // Falling costs: Foundation's cache inserts each entry at the front of its list, in constant
  // time.
  for number in 0..<count {
    cache.setObject(Payload(number), forKey: NSNumber(value: number), cost: 2 * (count - number))
  }
  let more = min(count, 2_000)
  var random = Random(seed: seed)
  let keys = (0..<more).map { NSNumber(value: count + $0) }
  let objects = (0..<more).map { Payload($0) }
  let costs = (0..<more).map { _ in Int.random(in: 0..<2 * count, using: &random) }
  let sample = Sample.of(more) {
    for index in 0..<more {
      cache.setObject(objects[index], forKey: keys[index], cost: costs[index])
    }
  }
  cache.removeAllObjects()
  return sample
}

/// SplitMix64: the same numbers in every run.
struct Random: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}
