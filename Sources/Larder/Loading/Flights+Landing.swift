// SPDX-License-Identifier: Apache-2.0

/// How flights end. No lock is held when these are called.
extension Flights {
  /// Takes out of the table a flight that has found a value instead of loading one. Only the caller
  /// that began it gets that value. Since it was found a removal of many keys may have returned, so
  /// those who joined look for themselves.
  func land(_ flight: OneFlight, found value: Value) {
    land(flight, .again, first: .loaded(value), isDecided: true, remembering: nil)
  }

  /// Takes out of the table a flight that has loaded a value.
  @inline(never)
  func land(_ flight: OneFlight, loaded value: Value) {
    land(flight, .loaded(value), remembering: nil)
  }

  /// Takes a flight that is over out of the table, and ends it for all who wait. `first`: for the
  /// caller that began it, where that is not the same. `isDecided`: it has nothing to store.
  func land(
    _ flight: OneFlight, _ landing: Landing<Value>, first: Landing<Value>? = nil,
    isDecided: Bool = false, remembering failure: RememberedFailure?
  ) {
    LoadPoints.reach()
    flight.close()
    var asleep = WaiterQueue()
    var forgotten: AnyFlight?
    var isRemembered = false
    stripe(of: flight.hash).withLock { stripe in
      if isDecided { stripe.decide(flight) }
      while let waiter = flight.waiters.popFirst() {
        let waiter = unsafeDowncast(waiter, to: Waiter<Value>.self)
        waiter.end(waiter.isFirst ? first ?? landing : landing)
        asleep.append(waiter)
      }
      flight.task = nil
      guard let failure, flight.isCurrent else { return stripe.remove(flight) }
      flight.failure = failure
      forgotten = stripe.remember(flight)
      isRemembered = true
    }
    LoadPoints.reach()
    if !isRemembered { end(flight) }
    if let forgotten { end(forgotten) }
    while let waiter = asleep.popFirst() { waiter.wake() }
  }

  /// Takes a flight that has loaded a value out of the table, if nobody waits for it. False if
  /// somebody does. `isDecided`: nothing outdated it before its storing was decided.
  func landAlone(
    _ flight: OneFlight, isDecided: Bool, noting note: (inout LoadStatistics) -> Void
  ) -> Bool {
    LoadPoints.reach()
    flight.close()
    var isAlone = false
    stripe(of: flight.hash).withLock { stripe in
      note(&stripe.numbers)
      if isDecided { stripe.decide(flight) }
      isAlone = flight.waiters.isEmpty
      guard isAlone else { return }
      flight.task = nil
      stripe.remove(flight)
    }
    if isAlone { end(flight) }
    return isAlone
  }
}
