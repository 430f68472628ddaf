// SPDX-License-Identifier: Apache-2.0
import Larder

/// Keys with their hits, oldest first.
struct CountedQueue {
  var entries: [(key: Int, hits: Int)] = []

  var keys: [Int] { entries.map(\.key) }
  func contains(_ key: Int) -> Bool { entries.contains { $0.key == key } }

  mutating func hit(_ key: Int, most: Int) {
    if let index = entries.firstIndex(where: { $0.key == key }) {
      entries[index].hits = min(entries[index].hits + 1, most)
    }
  }
  mutating func remove(_ key: Int) { entries.removeAll { $0.key == key } }

  /// Takes a key out with its hits.
  mutating func take(_ key: Int) -> (key: Int, hits: Int)? {
    entries.firstIndex { $0.key == key }.map { entries.remove(at: $0) }
  }
}

struct ClockModel: PolicyModel {
  var queue = CountedQueue()

  var order: [Int] { queue.keys }
  mutating func hit(_ key: Int) { queue.hit(key, most: 1) }
  mutating func pass(_ key: Int) { queue.entries.append(queue.take(key)!) }
  mutating func insert(_ key: Int, cost: Int) { queue.entries.append((key, 0)) }
  mutating func remove(_ key: Int, evicted: Bool) { queue.remove(key) }
  mutating func victim() -> Int? {
    while let first = queue.entries.first, first.hits > 0 {
      queue.entries.append((first.key, 0))
      queue.entries.removeFirst()
    }
    return queue.entries.first?.key
  }
  mutating func removeAll() { queue = CountedQueue() }
}

struct SieveModel: PolicyModel {
  var queue = CountedQueue()
  /// The position of the hand. At the end it begins again.
  var hand = 0

  var order: [Int] {
    let start = hand < queue.entries.count ? hand : 0
    return Array(queue.keys[start...] + queue.keys[..<start])
  }
  mutating func hit(_ key: Int) { queue.hit(key, most: 1) }
  mutating func pass(_ key: Int) { hit(key) }
  mutating func insert(_ key: Int, cost: Int) {
    if hand >= queue.entries.count { hand = 0 }
    queue.entries.append((key, 0))
  }
  mutating func remove(_ key: Int, evicted: Bool) {
    let index = queue.keys.firstIndex(of: key)!
    queue.remove(key)
    if index < hand { hand -= 1 }
    if hand >= queue.entries.count { hand = 0 }
  }
  mutating func victim() -> Int? {
    if queue.entries.isEmpty { return nil }
    while queue.entries[hand].hits > 0 {
      queue.entries[hand].hits = 0
      hand = (hand + 1) % queue.entries.count
    }
    return queue.entries[hand].key
  }
  mutating func removeAll() { self = SieveModel() }
}

/// Evicted keys, each with the epoch it was evicted in. An epoch ends when it has `granule` keys;
/// those taken out of the table do not count. A key lives for `life` more epochs. The memory for
/// all this comes with the insertion after the first eviction.
struct GhostModel {
  var epochs: [Int: Int] = [:]
  var epoch = 0
  var filled = 0
  var isWanted = false
  var isThere = false
  let granule: Int
  let life: Int

  init(capacity: Int, percent: Int) {
    let most = max(1, capacity * percent / 100)
    granule = (2 * most + 16) / 17
    life = most / granule
  }

  mutating func prepare() { isThere = isWanted }
  mutating func add(_ key: Int) {
    isWanted = true
    if !isThere { return }
    filled += 1
    if filled > granule { (epoch, filled) = (epoch + 1, 1) }
    epochs[key] = epoch
  }
  mutating func take(_ key: Int) -> Bool {
    guard let past = epochs.removeValue(forKey: key), epoch - past <= life else { return false }
    filled = max(0, filled - 1)
    return true
  }
}

struct S3FIFOModel: PolicyModel {
  var small = CountedQueue()
  var main = CountedQueue()
  var ghosts: GhostModel
  var hasEvicted = false
  let capacity: Int
  var smallMost: Int { max(1, capacity / 10) }

  init(capacity: Int) {
    self.capacity = capacity == 0 ? .max : capacity
    ghosts = GhostModel(capacity: capacity, percent: 90)
  }

  var order: [Int] { small.keys + main.keys }
  mutating func prepare() { ghosts.prepare() }
  mutating func hit(_ key: Int) {
    small.hit(key, most: 3)
    main.hit(key, most: 3)
  }
  mutating func insert(_ key: Int, cost: Int) {
    let isKnown = ghosts.take(key)
    if order.isEmpty { hasEvicted = false }
    if isKnown || (!hasEvicted && small.entries.count >= smallMost) {
      main.entries.append((key, 0))
    } else {
      small.entries.append((key, 0))
    }
  }
  mutating func remove(_ key: Int, evicted: Bool) {
    if evicted && small.contains(key) { ghosts.add(key) }
    if evicted { hasEvicted = true }
    small.remove(key)
    main.remove(key)
  }
  mutating func victim() -> Int? {
    var fromMain = main.entries.count > capacity - smallMost
    while true {
      if small.entries.isEmpty { fromMain = true }
      if main.entries.isEmpty { fromMain = false }
      if fromMain {
        guard let first = main.entries.first, first.hits > 0 else { return main.keys.first }
        main.entries.removeFirst()
        main.entries.append((first.key, first.hits - 1))
      } else {
        guard let first = small.entries.first, first.hits > 1 else { return small.keys.first }
        small.entries.removeFirst()
        main.entries.append((first.key, 0))
      }
    }
  }
  mutating func removeAll() {
    (small, main, hasEvicted) = (CountedQueue(), CountedQueue(), false)
  }
}

struct TwoQueueModel: PolicyModel {
  var entrance: [Int] = []
  var main = LRUModel()
  var ghosts: GhostModel
  let entranceMost: Int

  init(capacity: Int) {
    entranceMost = capacity == 0 ? .max : max(1, capacity / 4)
    ghosts = GhostModel(capacity: capacity, percent: 50)
  }

  var order: [Int] { entrance + main.order }
  mutating func prepare() { ghosts.prepare() }
  mutating func hit(_ key: Int) { if main.order.contains(key) { main.hit(key) } }
  mutating func renew(_ key: Int) { hit(key) }
  mutating func insert(_ key: Int, cost: Int) {
    if ghosts.take(key) { main.insert(key, cost: cost) } else { entrance.append(key) }
  }
  mutating func remove(_ key: Int, evicted: Bool) {
    if evicted && entrance.contains(key) { ghosts.add(key) }
    entrance.removeAll { $0 == key }
    main.remove(key, evicted: evicted)
  }
  mutating func victim() -> Int? { victim(entranceMost) }
  mutating func trimVictim() -> Int? { victim(max(1, order.count / 4)) }
  private mutating func victim(_ most: Int) -> Int? {
    if entrance.count > most || main.order.isEmpty { return entrance.first }
    return main.victim()
  }
  mutating func removeAll() { (entrance, main) = ([], LRUModel()) }
}
