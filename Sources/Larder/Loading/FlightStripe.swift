// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// How many failures all stripes of a cache remember. Relaxed: it only bounds them.
final class RememberedCount: Sendable {
  static let most = 1_024
  let value = Atomic(0)
}

/// One of the parts of `Flights`, chosen by hash, under a lock of its own.
struct FlightStripe {
  /// The flights of a hash, linked by `next`.
  private(set) var flights: [UInt64: AnyFlight] = [:]
  /// Those of `flights` whose failure is remembered, oldest first.
  private var remembered: [AnyFlight] = []
  private let rememberedInAll: RememberedCount
  var numbers = LoadStatistics()

  init(_ rememberedInAll: RememberedCount) { self.rememberedInAll = rememberedInAll }

  func contains(_ flight: AnyFlight) -> Bool {
    var candidate = flights[flight.hash]
    while let other = candidate, other !== flight { candidate = other.next }
    return candidate != nil
  }

  mutating func add(_ flight: AnyFlight) {
    flight.next = flights.updateValue(flight, forKey: flight.hash)
  }

  /// Takes a flight out, if it is in. The caller holds it, so that nothing dies here.
  mutating func remove(_ flight: AnyFlight) {
    var before: AnyFlight?
    var candidate = flights[flight.hash]
    while let other = candidate, other !== flight { (before, candidate) = (other, other.next) }
    guard candidate != nil else { return }
    if let before { before.next = flight.next } else { flights[flight.hash] = flight.next }
    flight.next = nil
    guard flight.failure != nil, let index = remembered.firstIndex(where: { $0 === flight })
    else { return }
    remembered.remove(at: index)
    rememberedInAll.value.subtract(1, ordering: .relaxed)
  }

  /// Takes a flight out, and marks it. Returns it, so that it outlives the lock.
  mutating func outdate(_ flight: AnyFlight?) -> AnyFlight? {
    guard let flight else { return nil }
    remove(flight)
    flight.outdate()
    guard flight.failure == nil, !flight.isDecided else { return flight }
    flight.countsAsOutdated = true
    numbers.outdated += 1
    return flight
  }

  /// Notes that the flight's storing is decided, and that nothing had outdated it. A write may have
  /// done so since.
  mutating func decide(_ flight: AnyFlight) {
    flight.isDecided = true
    if flight.countsAsOutdated { numbers.outdated -= 1 }
    flight.countsAsOutdated = false
  }

  /// Keeps a flight whose failure is remembered. Returns one that is forgotten for it, so that it
  /// outlives the lock.
  mutating func remember(_ flight: AnyFlight) -> AnyFlight? {
    remembered.append(flight)
    let all = rememberedInAll.value.add(1, ordering: .relaxed).newValue
    guard all > RememberedCount.most else { return nil }
    let oldest = remembered[0]
    remove(oldest)
    return oldest
  }

  var all: [AnyFlight] {
    var all: [AnyFlight] = []
    for first in flights.values {
      var candidate = Optional(first)
      while let flight = candidate {
        all.append(flight)
        candidate = flight.next
      }
    }
    return all
  }
}
