// SPDX-License-Identifier: Apache-2.0

/// A key and its evicted object, for as long as somebody else holds that.
final class WeakPlace<Key, Value: AnyObject> {
  let key: Key
  let cost: Int
  private(set) weak var value: Value?

  init(key: Key, value: Value, cost: Int) {
    self.key = key
    self.cost = cost
    self.value = value
  }
}

/// A ring of weak places, and where each key is in it. Used under a lock: what leaves the ring is
/// returned, to be destroyed elsewhere.
struct WeakStripe<Key: Hashable, Value: AnyObject> {
  typealias Place = WeakPlace<Key, Value>

  /// Writes to keys of this stripe that are under way.
  var writers = 0
  private let capacity: Int
  private var ring: [Place?]
  private var index: [Key: Int] = [:]
  private var hand = 0
  private var broom = 0

  init(capacity: Int) {
    self.capacity = capacity
    ring = Array(repeating: nil, count: capacity)
  }

  var count: Int { index.count }

  func place(of key: Key) -> Place? { index[key].flatMap { ring[$0] } }

  mutating func add(_ place: Place) -> [AnyObject] {
    var gone: [AnyObject?] = [forget(place.key), remove(at: hand)]
    index[place.key] = hand
    ring[hand] = place
    hand = (hand + 1) % capacity
    for _ in 0..<2 {
      gone.append(sweep(broom))
      broom = (broom + 1) % capacity
    }
    return gone.compactMap { $0 }
  }

  mutating func forget(_ key: Key) -> Place? { index[key].flatMap { remove(at: $0) } }

  mutating func forgetAll() -> [Place] { (0..<capacity).compactMap { remove(at: $0) } }

  mutating func removeDead() -> [AnyObject] { (0..<capacity).compactMap { sweep($0) } }

  /// Takes out a place whose object has died. Looking takes a reference to one that has not, which
  /// may become the last at any time: that is returned, too.
  private mutating func sweep(_ number: Int) -> AnyObject? {
    ring[number]?.value ?? remove(at: number)
  }

  /// The place returned keeps the key that the index loses.
  private mutating func remove(at number: Int) -> Place? {
    guard let place = ring[number] else { return nil }
    ring[number] = nil
    index[place.key] = nil
    return place
  }
}
