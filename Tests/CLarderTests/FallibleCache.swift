// SPDX-License-Identifier: Apache-2.0
import CLarder
import Larder
import LarderTestSupport

/// A key that a test can number.
protocol NumberedKey: Hashable, Sendable {
  init(_ number: Int)
}

extension Int: NumberedKey {}
extension Collider: NumberedKey {}

/// A cache, what it should hold, and whatever it did against its contract, both with and without a
/// failed allocation.
///
/// Nothing here predicts evictions. They may only happen when a limit is reached, and whatever a
/// call leaves alone must still be readable.
final class FallibleCache<Key: NumberedKey> {
  struct Held: Equatable {
    let payload: Int
    let cost: Int
  }

  let cache: Cache<Key, Tracked>
  let tracker = LifetimeTracker()
  let keys: Range<Int>
  private(set) var held: [Int: Held] = [:]
  private(set) var refused = 0
  private var before: [Int: Held] = [:]
  private var step = 0
  /// Runs before each call and arms the failure.
  var beforeCall: () -> Void = {}

  init(
    keys: Range<Int>, countLimit: Int, costLimit: Int, policy: EvictionPolicy = .lru, shards: Int
  ) {
    self.keys = keys
    cache = Cache(
      countLimit: countLimit, totalCostLimit: costLimit, policy: policy, shards: shards)
  }

  func require(_ condition: Bool, _ what: @autoclosure () -> String) {
    if !condition { fatalError("step \(step): \(what())") }
  }

  /// Runs one call, and compares everything stored with what was stored before.
  func perform<Result>(
    adding payload: Int? = nil, cost: Int = 0, at number: Int? = nil, evicts: Bool = false,
    _ call: (Cache<Key, Tracked>) -> Result
  ) -> Result {
    step += 1
    beforeCall()
    let result = call(cache)
    cache.checkInvariants()
    var now: [Int: Held] = [:]
    for key in keys {
      guard let value = cache.peek(forKey: Key(key)) else { continue }
      require(value.isIntact, "\(value) of key \(key) is broken")
      now[key] = Held(payload: value.payload, cost: held[key]?.cost ?? cost)
      if key == number, value.payload == payload { now[key] = Held(payload: payload!, cost: cost) }
    }
    let full =
      cache.countLimit > 0 && held.count + 1 > cache.countLimit
      || cache.totalCostLimit > 0 && totalCost(held) + cost > cache.totalCostLimit
    for (key, before) in held where key != number {
      if let after = now[key] {
        require(after == before, "key \(key) changed")
      } else {
        require(evicts || full, "key \(key) is gone without need")
      }
    }
    for key in now.keys where held[key] == nil {
      require(key == number, "key \(key) came from nowhere")
    }
    require(cache.count == now.count, "count is \(cache.count), \(now.count) are readable")
    require(cache.totalCost == totalCost(now), "totalCost is \(cache.totalCost)")
    require(cache.countLimit == 0 || cache.count <= cache.countLimit, "over the count limit")
    require(cache.totalCostLimit == 0 || cache.totalCost <= cache.totalCostLimit, "over the limit")
    before = held
    held = now
    return result
  }

  private func totalCost(_ entries: [Int: Held]) -> Int {
    entries.values.reduce(0) { $0 + $1.cost }
  }

  func insert(_ number: Int, cost: Int = 0) {
    let payload = step * 1_000 + number
    let value = tracker.make(payload)
    let outcome = perform(adding: payload, cost: cost, at: number) {
      $0.insert(value, forKey: Key(number), cost: cost)
    }
    switch outcome {
    case .inserted, .replaced:
      require(held[number]?.payload == payload, "\(outcome), but not stored")
      require((outcome == .replaced) == (before[number] != nil), "\(outcome)")
    case .outOfMemory:
      require(held == before, "out of memory, but something changed")
      refused += 1
    case .tooCostly:
      require(held[number] == nil && cost > cache.totalCostLimit, "\(outcome)")
    case .expired:
      require(false, "\(outcome), although nothing expires")
    }
  }

  func update(_ number: Int, cost: Int = 0) {
    let payload = step * 1_000 + number
    let value = tracker.make(payload)
    let old = perform(adding: payload, cost: cost, at: number) {
      $0.updateValue(value, forKey: Key(number), cost: cost)
    }
    if held[number]?.payload == payload || held[number] == nil {
      require(old?.payload == before[number]?.payload, "updateValue returned \(old as Any)")
    } else {
      require(old == nil && held == before, "refused, but something changed")
      refused += 1
    }
  }

  func remove(_ number: Int) {
    let old = perform(at: number) { $0.removeValue(forKey: Key(number)) }
    require(old?.payload == before[number]?.payload, "removeValue returned \(old as Any)")
    require(held[number] == nil, "key \(number) is still there")
  }

  func read(_ number: Int) {
    let value = perform { $0.value(forKey: Key(number)) }
    require(value?.payload == held[number]?.payload, "value(forKey:) returned \(value as Any)")
    let lent = perform { $0.withValue(forKey: Key(number)) { $0.payload } }
    require(lent == held[number]?.payload, "withValue returned \(lent as Any)")
    let many = perform { $0.values(forKeys: keys.map(Key.init)) }
    require(many.map { $0?.payload } == keys.map { held[$0]?.payload }, "values(forKeys:)")
    require(perform { $0.contains(Key(number)) } == (held[number] != nil), "contains")
  }

  func copyAll() {
    let elements = perform { $0.snapshot() }
    require(
      elements.map(\.value.payload).sorted() == held.values.map(\.payload).sorted(), "snapshot()")
    require(elements.reduce(0) { $0 + $1.cost } == totalCost(held), "costs of snapshot()")
    require(perform { $0.coldest(3) }.count == min(3, held.count), "coldest(3)")
  }

  /// A thread that has never used the cache reads and stores, and ends.
  func useOnNewThread(_ number: Int) {
    let payload = step * 1_000 + number
    let value = tracker.make(payload)
    let keys = keys
    perform(adding: payload, at: number) { cache in
      RealThread {
        for key in keys { precondition(cache.value(forKey: Key(key))?.isIntact != false) }
        cache.insert(value, forKey: Key(number), cost: 0)
        _ = cache.snapshot()
      }.join()
    }
    require(held == before || held[number]?.payload == payload, "a new thread's insertion")
  }

  func trim(toCount count: Int) {
    perform(evicts: true) { $0.trim(toCount: count) }
    require(held.count == min(count, before.count), "trim(toCount: \(count)) left \(held.count)")
  }

  func trim(toCost cost: Int) {
    perform(evicts: true) { $0.trim(toCost: cost) }
    require(totalCost(held) <= cost, "trim(toCost: \(cost)) left \(totalCost(held))")
  }

  func removeAll() {
    perform(evicts: true) { $0.removeAll() }
    require(held.isEmpty, "removeAll() left \(held.count)")
  }

  func removeOdd() {
    perform(evicts: true) { $0.removeAll { _, value in value.payload % 2 == 1 } }
    require(held == before.filter { $0.value.payload % 2 == 0 }, "removeAll(where:)")
  }

  func reclaim() { perform { $0.reclaim() } }

  /// Some hundred calls of every kind, with tables that grow and chains that overflow.
  func runScript() {
    let half = keys.lowerBound + keys.count / 2
    read(0)
    for key in keys { insert(key, cost: key % 3) }
    for key in keys where key % 4 == 0 { update(key, cost: key % 5) }
    for key in keys where key % 7 == 0 { read(key) }
    useOnNewThread(1)
    for key in keys where key % 5 == 0 { remove(key) }
    copyAll()
    insert(2, cost: 1 << 40)
    update(3, cost: 1 << 40)
    remove(2)
    for key in keys where key >= half { insert(key, cost: 1) }
    trim(toCount: 20)
    trim(toCost: 10)
    useOnNewThread(half)
    for key in keys where key < half { update(key) }
    removeOdd()
    copyAll()
    removeAll()
    reclaim()
    for key in keys where key % 3 == 0 { insert(key, cost: 2) }
    read(6)
    useOnNewThread(0)
    for key in keys where key % 3 == 0 { remove(key) }
    reclaim()
    for key in keys where key % 9 == 0 { insert(key) }
    copyAll()
  }
}
