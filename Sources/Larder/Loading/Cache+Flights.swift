// SPDX-License-Identifier: Apache-2.0
import CLarder
import Synchronization

/// What writes and loads ask of each other. `Flights` says why it is right.
extension Cache {
  /// The table of flights, if there is one.
  var flights: Flights<Key, Value>? {
    guard let flights = flightTable.load() else { return nil }
    return cast(flights)
  }

  private func cast(_ flights: AnyFlights) -> Flights<Key, Value> {
    unsafeDowncast(flights, to: Flights<Key, Value>.self)
  }

  /// The same, made if there is none.
  func allFlights() -> Flights<Key, Value> {
    let flights = flights ?? cast(flightTable.storeIfNil(Flights<Key, Value>(core)))
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    return flights
  }

  /// Outdates the flight of a key that is about to be written. The shard's lock is held before and
  /// after, and given up in between.
  @usableFromInline @inline(never)
  func outdateLocked(
    _ key: Key, _ hash: UInt64, _ shard: OpaquePointer,
    unless steps: UnsafeMutablePointer<StoreSteps>? = nil
  ) {
    // A load is no write, nor is the storing of an object that was found again.
    if steps?.pointee.outdates == false { return }
    // Whoever counts a flight has made the table before, and counts under this lock.
    guard let flights else { return }
    var begun: UInt64
    repeat {
      begun = lrd_flights_begun_locked(shard)
      lrd_shard_leave(core, shard)
      LoadPoints.reach()
      flights.outdate(key, hash)
      LoadPoints.reach()
      lrd_shard_enter(core, nil, shard)
    } while begun != lrd_flights_begun_locked(shard)
  }

  /// Outdates all flights before a call that removes many entries.
  func outdateFlights() {
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    flights?.outdateAll()
    LoadPoints.reach()
  }

  /// Outdates the flights of a group's keys.
  func outdateFlights(inGroup group: some Hashable & Sendable) {
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    guard let flights, let groups = extras?.groups else { return }
    flights.outdateAll(where: groups.membership(in: group))
  }

  /// Begins a flight that is in the table. Returns the value that another has stored meanwhile; a
  /// refresh wants none.
  func begin(_ flight: Flight<Key, Value>) -> Value? {
    LoadPoints.reach()
    let lane = lrd_lane_attach(core)
    let shard = lrd_cache_shard(core, flight.hash)
    lrd_shard_enter(core, lane, shard)
    let entry = flight.replaces ? nil : findLivingLocked(flight.key, flight.hash, shard)
    let value = entry?.value(of: Layout.self).pointee
    lrd_flight_begin_locked(shard)
    flight.hasBegun = true
    lrd_shard_leave(core, shard)
    return value
  }

  /// Begins a flight that is in the table, and ends it if another has stored a value meanwhile: then
  /// returns true. The reference found may be the last one by then. See `land(_:_:since:with:)`.
  func beginsAtItsEnd(_ flight: Flight<Key, Value>) -> Bool {
    var value = begin(flight)
    guard value != nil else { return false }
    allFlights().land(flight, found: value!)
    drop(&value)
    return true
  }

  /// Stores what a flight has loaded, unless a write has outdated it: then returns false.
  func store(
    _ value: Value, of flight: Flight<Key, Value>, after time: UInt64
  ) -> Bool {
    LoadPoints.reach()
    // Otherwise room might be made for nothing. The look under the lock is the one that counts.
    guard flight.isCurrent else { return false }
    let outcome = store(value, flight.key, nil, outdates: false, loadTime: time) { old in
      flight.isCurrent && (old == nil || flight.replaces)
    }
    return outcome?.isStored == true || flight.isCurrent
  }

  /// Ends a flight whose loader a task has run, with what that returned or threw. Its loader began
  /// at `start`. If it has loaded several keys, its time counts for the `first`.
  ///
  /// Returns the value. The reference may be the last one by now: callers have got theirs, and the
  /// cache may have evicted the value. So it goes where values are released, once nobody waits.
  func land(
    _ flight: Flight<Key, Value>, _ result: consuming Result<Value, any Error>,
    since start: UInt64, with options: LoadingOptions, isFirst: Bool = true
  ) -> Value? {
    switch consume result {
    case .success(let value):
      land(flight, in: allFlights(), loaded: value, since: start, isFirst: isFirst)
      return consume value
    case .failure(let error):
      land(flight, failed: error, since: start, with: options, isFirst: isFirst)
      return nil
    }
  }

  /// Ends a flight with a value.
  func land(
    _ flight: Flight<Key, Value>, in flights: Flights<Key, Value>, loaded value: Value,
    since start: UInt64, isFirst: Bool = true
  ) {
    let time = lrd_cache_now(core) - start
    let isDecided = store(value, of: flight, after: time)
    let isAlone = flights.landAlone(flight, isDecided: isDecided) { numbers in
      numbers.loads += 1
      if isFirst { numbers.time += .nanoseconds(Int64(clamping: time)) }
    }
    if !isAlone { flights.land(flight, loaded: value) }
  }

  /// Ends a flight with an error.
  func land(
    _ flight: Flight<Key, Value>, failed error: any Error, since start: UInt64,
    with options: LoadingOptions = LoadingOptions(), isFirst: Bool = true
  ) {
    let flights = allFlights()
    let now = lrd_cache_now(core)
    let isAbsence = error is NoValue
    flights.count(flight.hash) { numbers in
      if isAbsence { numbers.absences += 1 } else { numbers.failures += 1 }
      if isFirst { numbers.time += .nanoseconds(Int64(clamping: now - start)) }
    }
    if isAbsence { removeAbsent(flight) }
    // The cancellation of the task that runs the loader is no business of the others.
    let isCancelled = !flight.isAsync && error is CancellationError && Task.isCancelled
    let failure = RememberedFailure(error, after: flight.failuresBefore, with: options, at: now)
    flights.land(flight, isCancelled ? .again : .failed(error), remembering: failure)
  }
}
