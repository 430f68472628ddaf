// SPDX-License-Identifier: Apache-2.0
import Larder

/// A policy so plain that it is right by reading: arrays, with the newest or hottest last.
///
/// It knows keys and costs. It knows no values, and only those limits on which its queues depend.
public protocol PolicyModel {
  /// Keys in the order snapshots list them, coldest first.
  var order: [Int] { get }
  mutating func hit(_ key: Int)
  mutating func insert(_ key: Int, cost: Int)
  /// Replaces the value of a key, at another cost.
  mutating func replace(_ key: Int, cost: Int)
  mutating func remove(_ key: Int, evicted: Bool)
  /// The key to evict next. May move others.
  mutating func victim() -> Int?
  /// The key that a trim evicts next, which may leave a small part of the cache.
  mutating func trimVictim() -> Int?
  /// Lets other keys be named before this one, which costs nothing. For models of caches with
  /// costs.
  mutating func pass(_ key: Int)
  /// The same in a trim, where all others are to be named before.
  mutating func trimPass(_ key: Int)
  /// Others were passed over since the latest hit on this key. Puts it where a hit would now put
  /// it, without counting one.
  mutating func renew(_ key: Int)
  mutating func removeAll()
  /// An insertion begins.
  mutating func prepare()
}

extension PolicyModel {
  public mutating func trimVictim() -> Int? { victim() }
  public mutating func pass(_ key: Int) {}
  public mutating func trimPass(_ key: Int) { pass(key) }
  public mutating func renew(_ key: Int) {}
  public mutating func replace(_ key: Int, cost: Int) {}
  public mutating func hit(_ key: Int) {}
  public mutating func prepare() {}
}

extension EvictionPolicy {
  /// The policies whose order follows from what happened, not from estimates.
  public static let exact: [EvictionPolicy] = [
    .lru, .fifo, .lfu, .clock, .sieve, .s3fifo, .twoQueue, .cheapestFirst,
  ]

  /// The model of an exact policy, for a cache of `capacity` entries; 0 for no limit.
  public func model(capacity: Int) -> any PolicyModel {
    switch self {
    case .lru: LRUModel()
    case .fifo: FIFOModel()
    case .lfu: LFUModel()
    case .clock: ClockModel()
    case .sieve: SieveModel()
    case .s3fifo: S3FIFOModel(capacity: capacity)
    case .twoQueue: TwoQueueModel(capacity: capacity)
    case .cheapestFirst: CheapestFirstModel()
    default: fatalError("\(self) has no exact order")
    }
  }
}

struct FIFOModel: PolicyModel {
  var order: [Int] = []

  mutating func pass(_ key: Int) {
    remove(key, evicted: false)
    order.append(key)
  }
  mutating func insert(_ key: Int, cost: Int) { order.append(key) }
  mutating func remove(_ key: Int, evicted: Bool) { order.removeAll { $0 == key } }
  mutating func victim() -> Int? { order.first }
  mutating func removeAll() { order = [] }
}

struct LRUModel: PolicyModel {
  var order: [Int] = []

  mutating func pass(_ key: Int) { hit(key) }
  mutating func renew(_ key: Int) { hit(key) }
  mutating func hit(_ key: Int) {
    remove(key, evicted: false)
    order.append(key)
  }
  mutating func insert(_ key: Int, cost: Int) { order.append(key) }
  mutating func remove(_ key: Int, evicted: Bool) { order.removeAll { $0 == key } }
  mutating func victim() -> Int? { order.first }
  mutating func removeAll() { order = [] }
}

struct LFUModel: PolicyModel {
  var uses: [(key: Int, uses: Int)] = []

  var order: [Int] { uses.map(\.key) }
  mutating func add(_ key: Int, _ count: Int) {
    uses.insert((key, count), at: uses.firstIndex { $0.uses > count } ?? uses.count)
  }
  mutating func hit(_ key: Int) {
    let count = uses.first { $0.key == key }!.uses
    remove(key, evicted: false)
    add(key, min(count + 1, 255))
  }
  mutating func pass(_ key: Int) {
    let count = uses.first { $0.key == key }!.uses
    let larger = uses.first { $0.uses > count }?.uses
    remove(key, evicted: false)
    add(key, larger ?? count)
  }
  mutating func trimPass(_ key: Int) {
    let largest = uses.last!.uses
    remove(key, evicted: false)
    add(key, largest)
  }
  mutating func renew(_ key: Int) {
    let count = uses.first { $0.key == key }!.uses
    remove(key, evicted: false)
    add(key, count)
  }
  mutating func insert(_ key: Int, cost: Int) { add(key, 1) }
  mutating func remove(_ key: Int, evicted: Bool) { uses.removeAll { $0.key == key } }
  mutating func victim() -> Int? { uses.first?.key }
  mutating func removeAll() { uses = [] }
}

struct CheapestFirstModel: PolicyModel {
  var costs: [(key: Int, cost: Int)] = []

  var order: [Int] { costs.map(\.key) }
  mutating func insert(_ key: Int, cost: Int) {
    costs.insert((key, cost), at: costs.firstIndex { $0.cost > cost } ?? costs.count)
  }
  mutating func replace(_ key: Int, cost: Int) {
    remove(key, evicted: false)
    insert(key, cost: cost)
  }
  mutating func remove(_ key: Int, evicted: Bool) { costs.removeAll { $0.key == key } }
  mutating func victim() -> Int? { costs.first?.key }
  mutating func removeAll() { costs = [] }
}
