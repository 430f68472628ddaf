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
  private let sweeps: Bool
  private var ring: [Place?]
  private var index: [Key: Int] = [:]
  private var hand = 0
  private var broom = 0

  /// With `sweeps`, each place added frees some whose objects have died.
  init(capacity: Int, sweeps: Bool) {
    self.capacity = capacity
    self.sweeps = sweeps
    ring = Array(repeating: nil, count: capacity)
  }

  var count: Int { index.count }

  func place(of key: Key) -> Place? { index[key].flatMap { ring[$0] } }

  mutating func add(_ place: Place) -> [AnyObject] {
    var gone: [AnyObject?] = [forget(place.key), remove(at: hand)]
    index[place.key] = hand
    ring[hand] = place
    hand = (hand + 1) % capacity
    for _ in 0..<(sweeps ? 2 : 0) {
      gone.append(sweep(broom))
      broom = (broom + 1) % capacity
    }
    return gone.compactMap { $0 }
  }

  mutating func forget(_ key: Key) -> Place? { index[key].flatMap { remove(at: $0) } }

  mutating func forgetAll() -> [Place] { (0..<capacity).compactMap { remove(at: $0) } }

  /// Also returns the objects that are alive, each of which may be the last reference by now.
  mutating func removeDead() -> (gone: [Place], alive: [Value]) {
    var (gone, alive): ([Place], [Value]) = ([], [])
    for number in 0..<capacity {
      if let value = ring[number]?.value {
        alive.append(value)
      } else if let place = remove(at: number) {
        gone.append(place)
      }
    }
    return (gone, alive)
  }

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
