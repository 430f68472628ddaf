// SPDX-License-Identifier: Apache-2.0
import CLarder

/// How a caller comes to a flight.
enum Boarding<Key: Hashable & Sendable, Value: Sendable> {
  /// A new one. A task has a waiter, too; a thread runs the loader itself.
  case began(Flight<Key, Value>, Waiter<Value>?)
  /// One that was under way.
  case joined(Flight<Key, Value>, Waiter<Value>)
  /// None: the key's load has failed lately.
  case remembered(any Error)
}

/// What callers do with flights. No lock is held when these are called.
extension Flights {
  /// Joins the flight of a key, or puts a new one into the table.
  func board(_ key: Key, _ hash: UInt64, isAsync: Bool, goesOn: Bool = false) -> Boarding<
    Key, Value
  > {
    let new = OneFlight(key, hash, isAsync: isAsync, goesOn: goesOn)
    // A thread that begins a flight does not wait for it.
    var waiter = isAsync ? Waiter<Value>(isThread: false) : nil
    var boarding: Boarding<Key, Value>?
    var gone: OneFlight?
    stripe(of: hash).withLock { stripe in
      if let flight = self.flight(of: key, hash, in: stripe) {
        if let failure = flight.failure, failure.isFresh(at: lrd_cache_now(core)) {
          stripe.numbers.remembered += 1
          boarding = .remembered(failure.error)
          return
        }
        // A flight of the process that this one was forked from has no one to fly it, but maybe the
        // thread that has forked, whose value comes too late.
        if flight.failure == nil && flight.process == new.process {
          let mine = waiter ?? Waiter<Value>(isThread: true)
          waiter = mine
          flight.waiters.append(mine)
          stripe.numbers.shared += 1
          boarding = .joined(flight, mine)
          return
        }
        new.failuresBefore = flight.failures
        flight.outdate()
        stripe.remove(flight)
        gone = flight
      }
      waiter?.isFirst = true
      if let waiter { new.waiters.append(waiter) }
      stripe.add(new)
    }
    if let gone { end(gone) }
    guard let boarding else { return .began(new, waiter) }
    if case .joined(let flight, _) = boarding, LoadNode.running != nil { need(flight) }
    return boarding
  }

  /// Notes that a load waits for a flight, which must not wait for the turn of that load.
  private func need(_ flight: OneFlight) {
    flight.need()
    stripe(of: flight.hash).withLock { _ in flight.limiter }?.admit(flight)
  }

  /// Tells a flight that is about to start where it may have to wait for its turn.
  func setLimiter(_ limiter: LoadLimiter?, of flight: OneFlight) {
    guard let limiter else { return }
    stripe(of: flight.hash).withLock { _ in flight.limiter = limiter }
  }

  /// Puts into the table a flight that nobody waits for; `nil` if one of that key is there.
  func boardRefresh(_ key: Key, _ hash: UInt64) -> OneFlight? {
    let new = OneFlight(key, hash, isAsync: true, goesOn: true, replaces: true)
    let now = lrd_cache_now(core)
    var gone: OneFlight?
    let began = stripe(of: hash).withLock { stripe in
      if let flight = self.flight(of: key, hash, in: stripe) {
        if flight.failure?.isFresh(at: now) ?? (flight.process == new.process) { return false }
        new.failuresBefore = flight.failures
        flight.outdate()
        stripe.remove(flight)
        gone = flight
      }
      stripe.add(new)
      stripe.numbers.refreshes += 1
      return true
    }
    if let gone { end(gone) }
    return began ? new : nil
  }

  /// Takes a caller off its flight: the loader of `asking`, or somebody else. When the last one
  /// leaves a load that can be cancelled, it is, unless it is to go on.
  func leave(_ flight: OneFlight, _ waiter: Waiter<Value>, asking: LoadNode? = nil) {
    let heir = flight.isAsync && !flight.goesOn ? heir(of: flight) : nil
    var gone = heir
    let (isWoken, task) = stripe(of: flight.hash).withLock { stripe -> (Bool, Task<Void, Never>?) in
      guard waiter.isWaiting else { return (false, nil) }
      waiter.end(.left)
      flight.waiters.remove(waiter)
      stripe.numbers.left += 1
      guard flight.waiters.isEmpty, flight.isAsync, !flight.goesOn else { return (true, nil) }
      // Out of the table: who asks from now on needs a load that is not cancelled.
      flight.isAbandoned = true
      stripe.remove(flight)
      if let heir, flight.isCurrent {
        stripe.add(heir)
        gone = stripe.remember(heir).map { unsafeDowncast($0, to: OneFlight.self) }
      }
      flight.outdate()
      stripe.numbers.cancellations += 1
      return (true, flight.task)
    }
    if let gone { end(gone) }
    if isWoken { waiter.wake() }
    if let task { Nudge.cancel(task).give(to: flight, for: asking) }
  }

  /// What takes the place of a flight that is given up, so that the failures before it still
  /// count; `nil` if there were none. It counts as begun before it is in the table, so that a write
  /// looks for it there, and whoever takes it out can end it.
  private func heir(of flight: OneFlight) -> OneFlight? {
    guard let failure = RememberedFailure(keeping: flight.failuresBefore) else { return nil }
    let heir = OneFlight(flight.key, flight.hash, isAsync: true, goesOn: true)
    heir.failure = failure
    begin(heir)
    return heir
  }

  /// Tells a flight which task runs its loader.
  func setTask(_ task: Task<Void, Never>, of flight: OneFlight) {
    let isAbandoned = stripe(of: flight.hash).withLock { _ in
      flight.task = task
      return flight.isAbandoned
    }
    if isAbandoned { Nudge.cancel(task).give(to: flight, for: nil) }
    if let priority = stripe(of: flight.hash).withLock({ _ in flight.priority }) {
      Nudge.hurry(task, to: priority).give(to: flight, for: nil)
    }
  }

  /// Runs a flight's task at this priority, or a higher one.
  func hurry(_ flight: OneFlight, to priority: TaskPriority) {
    guard flight.isAsync else { return }
    let task = stripe(of: flight.hash).withLock { _ -> Task<Void, Never>? in
      if let known = flight.priority, known >= priority { return nil }
      flight.priority = priority
      return flight.task
    }
    if let task { Nudge.hurry(task, to: priority).give(to: flight, for: nil) }
  }

  /// Suspends a task, which is a part of `asking`, until its flight lands or it is cancelled. The
  /// caller passes on its escalation.
  nonisolated(nonsending)
    func sleep(
      _ flight: OneFlight, _ waiter: Waiter<Value>, asking: LoadNode?
    ) async -> Landing<Value>
  {
    // Not on behalf of the load when another task waits, which inherits it: see `Nudge`.
    let own = withUnsafeCurrentTask { $0?.hashValue } == asking?.loader ? asking : nil
    return await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        let landing = stripe(of: flight.hash).withLock { _ in waiter.sleep(continuation) }
        if let landing { continuation.resume(returning: landing) }
      }
    } onCancel: {
      leave(flight, waiter, asking: own)
    }
  }

  /// Counts something.
  func count(_ hash: UInt64, _ change: (inout LoadStatistics) -> Void) {
    stripe(of: hash).withLock { change(&$0.numbers) }
  }
}
