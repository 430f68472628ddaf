// SPDX-License-Identifier: Apache-2.0
import CLarder
import Synchronization

/// What writes and loads ask of each other. `Flights` says why it is right.
extension Cache {
  /// The table of flights, made if there is none.
  func allFlights() -> Flights<Key, Value> {
    let flights = flights.load() ?? flights.storeIfNil(Flights(core))
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    return flights
  }

  /// Outdates the flight of a key that is about to be written. The shard's lock is held before and
  /// after, and given up in between.
  @usableFromInline @inline(never)
  func outdateLocked(
    _ key: Key, _ hash: UInt64, _ shard: OpaquePointer,
    unless storage: UnsafeMutablePointer<Storage>? = nil
  ) {
    // A load is no write, nor is the storing of an object that was found again.
    if storage?.pointee.outdates == false { return }
    // Whoever counts a flight has made the table before, and counts under this lock.
    guard let flights = flights.load() else { return }
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
    flights.load()?.outdateAll()
    LoadPoints.reach()
  }

  /// Outdates the flights of a group's keys.
  func outdateFlights(inGroup group: some Hashable & Sendable) {
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    guard let flights = flights.load(), let groups = extras?.groups else { return }
    flights.outdateAll { groups.isMember($0, of: group) }
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
    lrd_shard_leave(core, shard)
    return value
  }

  /// Stores what a flight has loaded, unless a write has outdated it.
  func store(_ value: consuming Value, of flight: Flight<Key, Value>, after time: UInt64) {
    LoadPoints.reach()
    // Otherwise room might be made for nothing. The look under the lock is the one that counts.
    guard flight.isCurrent else { return }
    _ = store(value, flight.key, nil, outdates: false, loadTime: time) { old, _ in
      flight.isCurrent && (old == nil || flight.replaces)
    }
  }

  /// Ends a flight with what its loader returned or threw. Returns that for the caller who runs the
  /// loader, which began at `start`. If it has loaded several keys, its time counts for the `first`.
  func land(
    _ flight: Flight<Key, Value>, _ result: Result<Value, any Error>, since start: UInt64,
    with options: LoadingOptions = LoadingOptions(), isFirst: Bool = true
  ) {
    let flights = allFlights()
    let now = lrd_cache_now(core)
    let time = Duration.nanoseconds(isFirst ? Int64(clamping: now - start) : 0)
    flights.count(flight.hash) { $0.note(result, after: time) }
    switch result {
    case .success(let value):
      store(value, of: flight, after: now - start)
      flights.land(flight, .loaded(value), remembering: nil)
    case .failure(let error):
      if error is NoValue { removeAbsent(flight) }
      // The cancellation of the task that runs the loader is no business of the others.
      let isCancelled = !flight.isAsync && error is CancellationError && Task.isCancelled
      let failure = RememberedFailure(error, after: flight.failures, with: options, at: now)
      flights.land(flight, isCancelled ? .again : .failed(error), remembering: failure)
    }
  }
}

extension LoadStatistics {
  fileprivate mutating func note<Value>(_ result: Result<Value, any Error>, after time: Duration) {
    self.time += time
    switch result {
    case .success: loads += 1
    case .failure(let error):
      if error is NoValue { absences += 1 } else { failures += 1 }
    }
  }
}
