// SPDX-License-Identifier: Apache-2.0
import CLarder

extension Cache {
  /// Returns the value stored for `key`. If there is none, loads it, stores it and returns it.
  ///
  ///     let page = try pages.value(forKey: url) { url in try fetch(url) }
  ///
  /// **Once.** While the load of a key is under way, everyone who asks for that key waits for it
  /// and gets its result, threads and tasks alike. Loads of other keys are not held up, and `load`
  /// runs without a lock.
  ///
  /// **Never stale.** A removal or an insertion of the key outdates its load: the value goes to
  /// those who wait already, is not stored, and nobody who asks later gets it. The same holds for
  /// `removeAll`, `removeAll(where:)` and a group's removal.
  ///
  /// **Errors** reach everyone who waits and are not stored. If `load` runs in a task that is
  /// cancelled and throws `CancellationError`, the others load again.
  ///
  /// This form blocks the thread while it waits, and loads on the calling thread. It is for
  /// threads: a task that blocks one of the few threads of the concurrency pool may wait for a load
  /// that needs it. Tasks use the asynchronous form. `load` may use the cache, also for other
  /// loads. If it asks for its own key, directly or through other loads, it gets a ``LoadCycle``. A
  /// `load` that never returns holds up those who ask for its key, until that is removed.
  ///
  /// The call may be made from an observer and from a `deinit`. If these run inside the load of the
  /// same key, they get a ``LoadCycle`` as well.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - load: Returns the value of a key. Its cost is the cache's default. A value that is too
  ///     costly is returned, not stored.
  /// - Throws: What `load` throws, or what the load throws that the call waits for, or
  ///   ``LoadCycle``. In the cache of a ``LoadingCache`` also a failure that is remembered.
  /// - Complexity: Like ``value(forKey:)`` if there is a value. Otherwise O(1) on average, plus
  ///   `load`.
  @inlinable
  public func value<Failure: Error>(
    forKey key: Key, load: (Key) throws(Failure) -> Value
  ) throws -> Value {
    let hash = hasher.hash(key)
    if let value = value(forKey: key, hash: hash) { return value }
    return try loadedValue(key, hash, load)
  }

  /// Returns the value stored for `key`. If there is none, loads it, stores it and returns it.
  ///
  ///     let page = try await pages.value(forKey: url) { url in try await fetch(url) }
  ///
  /// The asynchronous form of `value(forKey:load:)` that blocks; threads and
  /// tasks wait for the same loads. If there is a value the call does not suspend.
  ///
  /// **Cancellation.** A caller that is cancelled leaves at once, with `CancellationError`. When
  /// the last caller has left, the load is cancelled. One that is cancelled before it asks gets the
  /// value if there is one that has not expired, and else `CancellationError`: it neither begins nor
  /// joins a load.
  ///
  /// **Context.** The load runs in a task of its own, on the global executor, with the task-local
  /// values of the caller that began it, and with the priority of its most urgent caller. (Before
  /// version 26 of Apple's systems it keeps the priority of the caller that began it.)
  ///
  /// - Throws: What `load` throws, or what the load throws that the call waits for; `LoadCycle`; or
  ///   `CancellationError`. In the cache of a ``LoadingCache`` also a failure that is remembered.
  /// - Complexity: Like ``value(forKey:)`` if there is a value. Otherwise O(1) on average, plus
  ///   `load`.
  @inlinable
  nonisolated(nonsending)
    public func value(
      forKey key: Key, load: @escaping @Sendable (Key) async throws -> Value
    ) async throws -> Value
  {
    let hash = hasher.hash(key)
    if let value = value(forKey: key, hash: hash) { return value }
    return try await loadedValue(key, hash, load)
  }

  @usableFromInline @inline(never)
  func loadedValue<Failure: Error>(
    _ key: Key, _ hash: UInt64, _ load: (Key) throws(Failure) -> Value
  ) throws -> Value {
    let flights = allFlights()
    while true {
      LoadPoints.reach()
      switch flights.board(key, hash, isAsync: false) {
      case .remembered(let error): throw error
      case .began(let flight, _): return try fly(flight, in: flights, load)
      case .joined(let flight, let waiter):
        if let value = try landing(of: flight, waiter) { return value }
        // The call has counted as a lookup already.
        if let value = current(key, hash) { return value }
      }
    }
  }

  /// Blocks until a flight lands. `nil` to ask again.
  @inline(never)
  private func landing(of flight: Flight<Key, Value>, _ waiter: Waiter<Value>) throws -> Value? {
    let asking: LoadNode?
    do { asking = try LoadGraph.willAwait(flight) } catch {
      allFlights().leave(flight, waiter)
      throw error
    }
    defer { LoadGraph.didAwait(flight, by: asking) }
    LoadPoints.reach { waiter.isAwake }
    switch waiter.sleep() {
    case .loaded(let value): return value
    case .failed(let error): throw error
    case .left, .again: return nil
    }
  }

  /// Runs a loader on this thread.
  private func fly<Failure: Error>(
    _ flight: Flight<Key, Value>, in flights: Flights<Key, Value>,
    _ load: (Key) throws(Failure) -> Value
  ) throws -> Value {
    if let value = begin(flight) {
      flights.land(flight, found: value)
      return value
    }
    // Cannot throw: nobody has had the time to make the flight wait for anything.
    let asking = try LoadGraph.willAwait(flight)
    defer { LoadGraph.didAwait(flight, by: asking) }
    // Observers of the storing are part of the load: they cannot wait for it either.
    return try flight.including {
      let start = lrd_cache_now(core)
      let value: Value
      do { value = try load(flight.key) } catch {
        land(flight, failed: error, since: start)
        throw error
      }
      land(flight, in: flights, loaded: value, since: start)
      return value
    }
  }

  @usableFromInline @inline(never)
  nonisolated(nonsending)
    func loadedValue(
      _ key: Key, _ hash: UInt64, _ load: @escaping @Sendable (Key) async throws -> Value
    ) async throws -> Value
  {
    try await loadedValue(key, hash, goesOn: false) { start($0, load, with: .plain) }
  }

  /// Joins or begins a flight, and waits for it; `start` starts one.
  nonisolated(nonsending)
    func loadedValue(
      _ key: Key, _ hash: UInt64, goesOn: Bool, _ start: (Flight<Key, Value>) -> Void
    ) async throws -> Value
  {
    let flights = allFlights()
    while true {
      try Task.checkCancellation()
      let flight: Flight<Key, Value>
      let waiter: Waiter<Value>
      switch flights.board(key, hash, isAsync: true, goesOn: goesOn) {
      case .remembered(let error): throw error
      case .began(let new, let mine):
        (flight, waiter) = (new, mine!)
        start(flight)
      case .joined(let other, let mine):
        (flight, waiter) = (other, mine)
        flights.hurry(flight, to: Task.currentPriority)
      }
      let asking: LoadNode?
      do { asking = try LoadGraph.willAwait(flight) } catch {
        flights.leave(flight, waiter)
        throw error
      }
      defer { LoadGraph.didAwait(flight, by: asking) }
      let landing = await withEscalation {
        flights.hurry(flight, to: $0)
      } of: {
        await flights.sleep(flight, waiter, asking: asking)
      }
      switch landing {
      case .loaded(let value): return value
      case .failed(let error): throw error
      case .left: throw CancellationError()
      case .again:
        // It may be there: see `land(_:found:)`. A new flight would take a window to find that. The
        // call has counted as a lookup already.
        if let value = current(key, hash) { return value }
      }
    }
  }

  /// Begins a flight and starts the task that runs its loader.
  func start(
    _ flight: Flight<Key, Value>, _ load: @escaping @Sendable (Key) async throws -> Value,
    with settings: LoadSettings
  ) {
    if beginsAtItsEnd(flight) { return }
    let limiter = LoadNode.running == nil ? settings.limiter : nil
    allFlights().setLimiter(limiter, of: flight)
    let task = flight.including {
      Task { [self] in
        flight.loader = withUnsafeCurrentTask { $0?.hashValue }
        let hasTurn = await limiter?.enter(for: [flight]) ?? false
        var value: Value?
        if Task.isCancelled {
          // The last caller has left, and nobody can join any more: see `leave(_:_:)`.
          allFlights().land(flight, .left, remembering: nil)
        } else {
          let start = lrd_cache_now(core)
          var result: Result<Value, any Error>?
          do { result = .success(try await load(flight.key)) } catch { result = .failure(error) }
          value = land(flight, result.take()!, since: start, with: settings.options)
        }
        if hasTurn { limiter?.leave() }
        // Not before: what releases the value may wait for another load.
        drop(&value)
      }
    }
    allFlights().setTask(task, of: flight)
  }
}
