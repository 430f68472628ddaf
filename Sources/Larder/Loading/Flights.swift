// SPDX-License-Identifier: Apache-2.0
import CLarder
import Synchronization

/// The loads under way in one cache, whatever the types of key and value; see `AnyFlight`.
class AnyFlights: @unchecked Sendable {
  // Sendable: has no state; the subclass has an argument of its own.
}

/// The loads under way in one cache, by key: *flights*. A caller that misses joins the flight of
/// its key or begins one. The loader runs without a lock.
///
///     stripe's lock      who is in flight, who waits                  a side lock, a leaf
///     shard's lock       how many flights its keys have; storing      never held with the former
///
/// **One load at a time.** A flight is in the table from before its loader starts until its value
/// is stored. `begin` looks for the key once more when the flight is in the table. So a caller that
/// begins one either finds no value, or finds that of the flight before it.
///
/// **A write outdates the flights of its key.** A flight *begins* when `begin` counts it under the
/// shard's lock; its loader starts afterwards. A write *takes effect* when it publishes or unlinks,
/// under the same lock. At that moment each flight of the key that has begun is outdated:
///
///   1. The writer locks the shard. If no flight of a key of the shard is under way, there is
///      nothing to do, and it goes on. This is all that it costs a cache without loads: a look at a
///      byte beside the lock that it has just taken.
///   2. Otherwise it reads `flights_begun`, unlocks, takes its key's flight out of the table and
///      marks it, and locks again. If another flight has begun meanwhile it repeats the step.
///
/// A flight stores its value under the shard's lock, too, and only if it is not marked. So:
///
///   - *No value comes back.* Let a write take effect after a flight has begun. Either the flight
///     stored its value before, and the write replaced or removed that; or it comes to store it
///     afterwards, finds the mark, and does not.
///   - *No later reader gets it either.* The marked flight is out of the table before the write
///     returns. Those who wait for it began before the write returned.
///   - *Who begins afterwards sees what the writer saw.* If the writer found no flight, its turn
///     with the lock came before the beginning of the flight. Whatever the writer did before its
///     call, such as to change a database, the loader's thread sees.
///
/// A load is then an atomic operation: it takes effect when it stores its value, or, if it does not
/// store, between its beginning and the write that outdated it.
///
/// Evictions outdate nothing. So a caller that joins a flight may get its value although that was
/// evicted meanwhile, as if it had been evicted later.
///
/// **Removals of many keys** outdate before they remove, and all flights, as no one knows what a
/// load will return; those of a group only the flights of that group. What a flight that has begun
/// before the call stores is either marked, or stored before and so removed. A flight that begins
/// during the call may store its value. One that finds a value when it begins may find what the
/// call then removes, and nobody marks it: so it hands the value to none of those who joined it,
/// perhaps after the call. `allFlights()` has a sequentially consistent fence between
/// making the table and loading, and these calls have one between what the caller wrote before and
/// the look for a table: one of the two sees the other.
///
/// FIELDS
///   `stripes`         a lock each
///   `Flight.outdated` set before the shard's lock is taken, read under it: relaxed; the
///                     lock orders
final class Flights<Key: Hashable & Sendable, Value: Sendable>: AnyFlights, @unchecked Sendable {
  // Sendable: constants.
  typealias OneFlight = Flight<Key, Value>

  static var stripeCount: Int { 16 }

  /// The cache's, which outlives this.
  nonisolated(unsafe) let core: OpaquePointer
  private let stripes: [Guarded<FlightStripe>]

  init(_ core: OpaquePointer) {
    self.core = core
    let remembered = RememberedCount()
    stripes = (0..<Self.stripeCount).map { _ in Guarded(FlightStripe(remembered)) }
  }

  /// These bits of the hash choose neither a cell in a bucket nor a shard.
  func stripe(of hash: UInt64) -> Guarded<FlightStripe> {
    stripes[Int(hash >> 40) % Self.stripeCount]
  }

  /// The flight of a key. The stripe's lock is held.
  func flight(of key: Key, _ hash: UInt64, in stripe: borrowing FlightStripe) -> OneFlight? {
    var candidate = stripe.flights[hash]
    while let other = candidate {
      let flight = unsafeDowncast(other, to: OneFlight.self)
      if flight.key == key { return flight }
      candidate = other.next
    }
    return nil
  }

  /// Takes the flight of a key out of the table and marks it. No lock is held.
  func outdate(_ key: Key, _ hash: UInt64) {
    let flight = stripe(of: hash).withLock { $0.outdate(self.flight(of: key, hash, in: $0)) }
    if let flight, flight.failure != nil || flight.isForeign { end(flight) }
  }

  /// The same for all flights whose key is concerned. `isConcerned` runs without a lock.
  func outdateAll(where isConcerned: ((Key) -> Bool)? = nil) {
    for stripe in stripes {
      let all = stripe.withLock { $0.all }
      for flight in all {
        let flight = unsafeDowncast(flight, to: OneFlight.self)
        guard isConcerned?(flight.key) ?? true else { continue }
        let gone = stripe.withLock { stripe in
          if stripe.contains(flight) { return stripe.outdate(flight) }
          // It may have been given up meanwhile, and have left a count of failures.
          let heir = self.flight(of: flight.key, flight.hash, in: stripe)
          return heir?.failure == nil ? nil : stripe.outdate(heir)
        }
        if let gone, gone.failure != nil || gone.isForeign { end(gone) }
      }
    }
  }

  /// Notes that a flight has begun, which is not in the table yet.
  func begin(_ flight: AnyFlight) {
    let shard = lrd_cache_shard(core, flight.hash)
    lrd_shard_enter(core, nil, shard)
    lrd_flight_begin_locked(shard)
    flight.hasBegun = true
    lrd_shard_leave(core, shard)
  }

  /// Notes that a flight is over. One of the process that this one was forked from may not have
  /// begun.
  func end(_ flight: AnyFlight) {
    let shard = lrd_cache_shard(core, flight.hash)
    lrd_shard_enter(core, nil, shard)
    if flight.hasBegun { lrd_flight_end_locked(shard) }
    flight.hasBegun = false
    lrd_shard_leave(core, shard)
  }

  /// The sum over all stripes.
  var numbers: LoadStatistics {
    stripes.reduce(into: LoadStatistics()) { sum, stripe in
      sum.add(stripe.withLock { $0.numbers })
    }
  }

  /// The number of flights in the table, those with a remembered failure included. For tests.
  var count: Int { stripes.reduce(0) { $0 + $1.withLock { $0.all.count } } }

  /// The number of callers that the flights in the table hold. For tests.
  var waiterCount: Int {
    stripes.reduce(0) { sum, stripe in
      sum + stripe.withLock { $0.all.reduce(0) { $0 + $1.waiters.count } }
    }
  }
}
