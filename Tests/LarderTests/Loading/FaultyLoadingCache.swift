// SPDX-License-Identifier: Apache-2.0
import LarderTestSupport

/// A plain loading cache under one mutex, right or with a fault, to test the checker of histories.
final class FaultyLoadingCache: Sendable {
  enum Fault: CaseIterable, Sendable {
    case none
    /// A load is stored after a removal.
    case storesAfterRemoval
    /// Callers do not share loads.
    case loadsAtOnce
    /// Some waiters are not woken.
    case lostWaiter
    /// A refresh is stored over an insertion.
    case staleRefresh
    /// A removal leaves the flight where later callers join it.
    case removalMissesFlight
    /// A removal of all keys does not look for flights.
    case removeAllMissesFlights
    /// Nobody looks at deadlines.
    case returnsExpired
  }

  private final class Flight: @unchecked Sendable {
    // Sendable: guarded by the cache's mutex.
    var isOutdated = false
    var value: Int?
    var waiters = 0
  }

  private struct State {
    /// With the time of their storing.
    var stored: [Int: (value: Int, at: Int)] = [:]
    var now = 0
    var flights: [Int: Flight] = [:]
  }

  /// What is stored and has not expired.
  private func value(of key: Int, _ state: State) -> Int? {
    guard let (value, at) = state.stored[key] else { return nil }
    return fault == .returnsExpired || state.now - at < LoadSubject.lifetime ? value : nil
  }

  private let fault: Fault
  private let state = Protected(State())

  init(_ fault: Fault) { self.fault = fault }

  var subject: LoadSubject {
    LoadSubject(
      load: load, read: { key in self.state.withLock { self.value(of: key, $0) } },
      insert: { key, value in self.write(key, value) }, remove: { self.write($0, nil) },
      removeAll: removeAll, evict: {},
      move: { self.state.withLock { $0.now += 1 } },
      refresh: { self.fly($0, Flight(), $1, refreshes: true) })
  }

  private func load(_ key: Int, _ loader: (Int) -> Int) -> Int? {
    let (value, flight, joins) = state.withLock { state -> (Int?, Flight, Bool) in
      if let value = self.value(of: key, state) { return (value, Flight(), false) }
      if let flight = state.flights[key], fault != .loadsAtOnce {
        flight.waiters += 1
        // The fault: nobody will wake this one. It does not wait, so that the test ends.
        return (nil, flight, true)
      }
      let flight = Flight()
      state.flights[key] = flight
      return (nil, flight, false)
    }
    if let value { return value }
    if joins {
      if fault == .lostWaiter { return nil }
      waitUntil("the load") { state.withLock { _ in flight.value != nil } }
      return state.withLock { _ in flight.value }
    }
    fly(key, flight, loader, refreshes: false)
    return state.withLock { _ in flight.value }
  }

  private func fly(_ key: Int, _ flight: Flight, _ loader: (Int) -> Int, refreshes: Bool) {
    if refreshes {
      let isFirst = state.withLock { state in
        if state.flights[key] != nil { return false }
        state.flights[key] = flight
        return true
      }
      if !isFirst { return }
    }
    let value = loader(key)
    state.withLock { state in
      flight.value = value
      let ignores = fault == .storesAfterRemoval || (fault == .staleRefresh && refreshes)
      if !flight.isOutdated || ignores {
        if refreshes || self.value(of: key, state) == nil { state.stored[key] = (value, state.now) }
      }
      if state.flights[key] === flight { state.flights[key] = nil }
    }
  }

  @discardableResult
  private func write(_ key: Int, _ value: Int?) -> Int? {
    state.withLock { state in
      state.flights[key]?.isOutdated = true
      if fault != .removalMissesFlight { state.flights[key] = nil }
      let old = self.value(of: key, state)
      state.stored[key] = value.map { ($0, state.now) }
      return old
    }
  }

  private func removeAll() {
    state.withLock { state in
      if fault != .removeAllMissesFlights {
        for flight in state.flights.values { flight.isOutdated = true }
        state.flights = [:]
      }
      state.stored = [:]
    }
  }
}
