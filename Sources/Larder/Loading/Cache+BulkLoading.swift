// SPDX-License-Identifier: Apache-2.0
import CLarder

extension Cache {
  /// Returns the values of several keys. Loads those that are missing in one call, stores them and
  /// returns them.
  ///
  ///     let found = await users.values(forKeys: ids) { missing in try await fetch(missing) }
  ///
  /// Keys whose load is under way are not loaded again: the call waits for that. Others that ask
  /// for keys of this load wait for it, in whatever form. Each key has its own result. If `load`
  /// throws, all keys that it was to load fail with that error; a key that it returns nothing for
  /// fails with ``NoValue``. Keys that it was not asked for are ignored. A key that is given twice
  /// is asked for once. If nothing is missing `load` is not called.
  ///
  /// All else is as for ``value(forKey:load:)-(_,(Key)->Value)``, except that the load
  /// goes on when its callers are cancelled. A caller that is cancelled has `CancellationError` for
  /// the keys that are not there yet; if it was cancelled before it asked, it loads nothing.
  ///
  /// - Complexity: O(`keys.count`) on average, plus `load`.
  nonisolated(nonsending)
    public func values(
      forKeys keys: [Key], load: @escaping @Sendable ([Key]) async throws -> [Key: Value]
    ) async -> [Key: Result<Value, any Error>]
  {
    await loadedValues(forKeys: keys) {
      self.value(forKey: $0, hash: $1)
    } _: { flights in
      self.startTogether(flights, load, with: .plain, isNested: LoadNode.running != nil)
    }
  }

  /// Finds or loads values; `start` starts the flights of the keys that nobody loads.
  nonisolated(nonsending)
    func loadedValues(
      forKeys keys: [Key], find: (Key, _ hash: UInt64) -> Value?,
      _ start: ([Flight<Key, Value>]) -> Void
    ) async -> [Key: Result<Value, any Error>]
  {
    var results: [Key: Result<Value, any Error>] = [:]
    var missing = Array(Set(keys))
    var isFirst = true
    while !missing.isEmpty {
      var waits: [(flight: Flight<Key, Value>, waiter: Waiter<Value>)] = []
      var own: [Flight<Key, Value>] = []
      for key in missing {
        let hash = hasher.hash(key)
        // Each key counts as one lookup.
        if let value = isFirst ? find(key, hash) : current(key, hash) {
          results[key] = .success(value)
          continue
        }
        if Task.isCancelled {
          results[key] = .failure(CancellationError())
          continue
        }
        switch allFlights().board(key, hash, isAsync: true, goesOn: true) {
        case .remembered(let error): results[key] = .failure(error)
        case .joined(let flight, let waiter):
          allFlights().hurry(flight, to: Task.currentPriority)
          waits.append((flight, waiter))
        case .began(let flight, let waiter):
          own.append(flight)
          waits.append((flight, waiter!))
        }
      }
      isFirst = false
      if !own.isEmpty { start(own) }
      if waits.isEmpty { return results }
      // It waits for one after the other, but hurries all.
      let awaited = waits
      let landings = await withEscalation { priority in
        for (flight, _) in awaited { self.allFlights().hurry(flight, to: priority) }
      } of: {
        var landings: [Landing<Value>] = []
        for (flight, waiter) in awaited { landings.append(await landing(of: flight, waiter)) }
        return landings
      }
      missing = []
      for ((flight, _), landing) in zip(awaited, landings) {
        switch landing {
        case .loaded(let value): results[flight.key] = .success(value)
        case .failed(let error): results[flight.key] = .failure(error)
        case .left: results[flight.key] = .failure(CancellationError())
        case .again: missing.append(flight.key)
        }
      }
    }
    return results
  }

  /// Waits for a flight, unless it waits for the load that runs here.
  nonisolated(nonsending)
    private func landing(
      of flight: Flight<Key, Value>, _ waiter: Waiter<Value>
    ) async -> Landing<Value>
  {
    let asking: LoadNode?
    do { asking = try LoadGraph.willAwait(flight) } catch {
      allFlights().leave(flight, waiter)
      return .failed(error)
    }
    defer { LoadGraph.didAwait(flight, by: asking) }
    return await allFlights().sleep(flight, waiter, asking: asking)
  }

  /// Begins flights that one loader serves, unless they refresh and so have begun, and starts the
  /// task that runs it. `isNested`: a load waits for one of them, so they are part of it for
  /// ``LoadingOptions/loadLimit``.
  func startTogether(
    _ flights: [Flight<Key, Value>],
    _ load: @escaping @Sendable ([Key]) async throws -> [Key: Value], with settings: LoadSettings,
    isNested: Bool
  ) {
    let bulk = LoadNode()
    let limiter = isNested ? nil : settings.limiter
    var begun: [Flight<Key, Value>] = []
    for flight in flights where flight.replaces || !beginsAtItsEnd(flight) {
      LoadGraph.join(flight, to: bulk)
      allFlights().setLimiter(limiter, of: flight)
      begun.append(flight)
    }
    if begun.isEmpty { return }
    begun.last?.whole = bulk
    let task = bulk.including {
      Task { [self, begun] in
        let hasTurn = await limiter?.enter(for: begun) ?? false
        let start = lrd_cache_now(core)
        var results = await BulkResults(of: begun.map(\.key), by: load)
        var batches: [ReleaseBatch<Value>] = []
        var values: [Value] = []
        for flight in begun {
          let value = land(
            flight, results.take(flight.key), since: start, with: settings.options,
            isFirst: flight === begun.first)
          if let releaser = extras?.releaser {
            if let value { releaser.add(consume value, to: &batches) }
          } else if let value {
            values.append(consume value)
          }
          // Not before: observers of the storing are part of the load.
          LoadGraph.part(flight)
        }
        if hasTurn { limiter?.leave() }
        // Not before: what releases the values may wait for another load.
        for batch in batches { extras?.releaser?.hand(batch) }
        values.removeAll()
        results.removeAll()
      }
    }
    for flight in begun { allFlights().setTask(task, of: flight) }
  }
}

/// What a loader of several keys has returned, each value until it is taken.
private struct BulkResults<Key: Hashable & Sendable, Value: Sendable> {
  private var values: [Key: Value] = [:]
  private var failure: (any Error)?
  /// How often each key is still to be taken. A key has two flights in a batch if a write has
  /// outdated the first before the batch was loaded.
  private var left: [Key: Int] = [:]

  init(of keys: [Key], by load: @Sendable ([Key]) async throws -> [Key: Value]) async {
    var different: [Key] = []
    for key in keys {
      let before = left[key] ?? 0
      if before == 0 { different.append(key) }
      left[key] = before + 1
    }
    do { values = try await load(different) } catch { failure = error }
  }

  /// Gives up what was not asked for.
  mutating func removeAll() { values.removeAll() }

  mutating func take(_ key: Key) -> Result<Value, any Error> {
    if let failure { return .failure(failure) }
    left[key, default: 1] -= 1
    let value = left[key] == 0 ? values.removeValue(forKey: key) : values[key]
    return value.map { .success($0) } ?? .failure(NoValue())
  }
}

extension LoadingCache {
  /// Returns the values of several keys, and loads those that are missing: in one call if the cache
  /// was created with `loadAll`, otherwise key by key, all at once.
  ///
  /// With ``LoadingOptions/gathering`` no call loads more keys than its `most`. Values that are to
  /// be refreshed are so one by one, or gathered.
  ///
  /// Each key has its own result. See ``Cache/values(forKeys:load:)-(_,([Key])->[Key:Value])``.
  ///
  /// - Complexity: O(`keys.count`) on average, plus the loads.
  nonisolated(nonsending)
    public func values(forKeys keys: [Key]) async -> [Key: Result<Value, any Error>]
  {
    let results = await cache.loadedValues(forKeys: keys) { key, hash in
      found(key, hash)
    } _: { flights in
      if let loadAll {
        let most = gatherer?.gathering.most ?? flights.count
        for first in stride(from: 0, to: flights.count, by: most) {
          cache.startTogether(
            Array(flights[first..<min(first + most, flights.count)]), loadAll, with: settings,
            isNested: LoadNode.running != nil)
        }
      } else {
        for flight in flights { cache.start(flight, load, with: settings) }
      }
    }
    return Dictionary(
      uniqueKeysWithValues: results.map { key, result in
        guard case .failure(let error) = result,
          let old = cache.survivor(key, cache.hasher.hash(key), of: error)
        else { return (key, result) }
        return (key, .success(old.value))
      })
  }
}
