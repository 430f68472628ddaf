// SPDX-License-Identifier: Apache-2.0
import CLarder

/// A key and its evicted object, for as long as somebody else holds the object.
final class WeakRecord<Key, Value: AnyObject> {
  let key: Key
  let cost: Int
  let timing: lrd_timing
  private(set) weak var value: Value?

  init(key: Key, value: Value, cost: Int, timing: lrd_timing) {
    self.key = key
    self.cost = cost
    self.timing = timing
    self.value = value
  }
}

/// A ring of weak records, and each key's index in it. Used under a lock, so whatever leaves the
/// ring is returned, to be destroyed elsewhere.
struct WeakStripe<Key: Hashable, Value: AnyObject> {
  typealias Record = WeakRecord<Key, Value>

  /// The number of writes under way to keys of this stripe.
  var writers = 0
  private let capacity: Int
  private let sweeps: Bool
  private var ring: [Record?]
  private var index: [Key: Int] = [:]
  private var hand = 0
  private var broom = 0

  /// With `sweeps`, each addition frees some records whose objects have died.
  init(capacity: Int, sweeps: Bool) {
    self.capacity = capacity
    self.sweeps = sweeps
    ring = Array(repeating: nil, count: capacity)
  }

  var count: Int { index.count }

  func record(of key: Key) -> Record? { index[key].flatMap { ring[$0] } }

  mutating func add(_ record: Record) -> [AnyObject] {
    var gone: [AnyObject?] = [forget(record.key), remove(at: hand)]
    index[record.key] = hand
    ring[hand] = record
    hand = (hand + 1) % capacity
    for _ in 0..<(sweeps ? 2 : 0) {
      gone.append(sweep(broom))
      broom = (broom + 1) % capacity
    }
    return gone.compactMap { $0 }
  }

  mutating func forget(_ key: Key) -> Record? { index[key].flatMap { remove(at: $0) } }

  mutating func forgetAll() -> [Record] { (0..<capacity).compactMap { remove(at: $0) } }

  /// Also returns the objects that are alive, because each may be the last reference by now.
  mutating func removeDead() -> (gone: [Record], alive: [Value]) {
    var (gone, alive): ([Record], [Value]) = ([], [])
    for number in 0..<capacity {
      if let value = ring[number]?.value {
        alive.append(value)
      } else if let record = remove(at: number) {
        gone.append(record)
      }
    }
    return (gone, alive)
  }

  /// Takes out a record whose object has died. Looking at a living object takes a reference to it,
  /// which may become the last at any time, so that is returned too.
  private mutating func sweep(_ number: Int) -> AnyObject? {
    ring[number]?.value ?? remove(at: number)
  }

  /// The returned record keeps the key that the index loses.
  private mutating func remove(at number: Int) -> Record? {
    guard let record = ring[number] else { return nil }
    ring[number] = nil
    index[record.key] = nil
    return record
  }
}
