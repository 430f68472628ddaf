// SPDX-License-Identifier: Apache-2.0
import CLarder

extension Cache {
  /// Returns the values of several keys. Loads those that are missing in one call, stores them and
  /// returns them.
  ///
  ///     let found = users.values(forKeys: ids) { missing in try fetch(missing) }
  ///
  /// The blocking form of `values(forKeys:load:)`, for threads; see
  /// ``value(forKey:load:)-(_,(Key)->Value)`` for what that means. The loads of this call run on
  /// the calling thread. It waits for those of others afterwards, so two threads that ask for the
  /// same keys in a different order do not wait for each other.
  ///
  /// - Complexity: O(`keys.count`) on average, plus `load`.
  public func values<Failure: Error>(
    forKeys keys: [Key], load: ([Key]) throws(Failure) -> [Key: Value]
  ) -> [Key: Result<Value, any Error>] {
    var results: [Key: Result<Value, any Error>] = [:]
    var missing = Array(Set(keys))
    var isFirst = true
    while !missing.isEmpty {
      var own: [Flight<Key, Value>] = []
      var waits: [(flight: Flight<Key, Value>, waiter: Waiter<Value>)] = []
      for key in missing {
        let hash = hasher.hash(key)
        // Each key counts as one lookup.
        if let value = isFirst ? value(forKey: key, hash: hash) : current(key, hash) {
          results[key] = .success(value)
          continue
        }
        switch allFlights().board(key, hash, isAsync: false) {
        case .remembered(let error): results[key] = .failure(error)
        case .joined(let flight, let waiter): waits.append((flight, waiter))
        case .began(let flight, _): own.append(flight)
        }
      }
      isFirst = false
      fly(own, load) { results[$0] = $1 }
      missing = []
      for (flight, waiter) in waits {
        switch landing(of: flight, waiter) {
        case .loaded(let value): results[flight.key] = .success(value)
        case .failed(let error): results[flight.key] = .failure(error)
        case .left, .again: missing.append(flight.key)
        }
      }
    }
    return results
  }

  /// Blocks until a flight lands, unless it waits for the load that runs here.
  private func landing(
    of flight: Flight<Key, Value>, _ waiter: Waiter<Value>
  ) -> Landing<Value> {
    let asking: LoadNode?
    do { asking = try LoadGraph.willAwait(flight) } catch {
      allFlights().leave(flight, waiter)
      return .failed(error)
    }
    defer { LoadGraph.didAwait(flight, by: asking) }
    return waiter.sleep()
  }

  /// Runs a loader of several keys on this thread, and tells the result of each.
  private func fly<Failure: Error>(
    _ flights: [Flight<Key, Value>], _ load: ([Key]) throws(Failure) -> [Key: Value],
    _ note: (Key, Result<Value, any Error>) -> Void
  ) {
    let bulk = LoadNode()
    var begun: [Flight<Key, Value>] = []
    for flight in flights {
      if let value = begin(flight) {
        allFlights().land(flight, found: value)
        note(flight.key, .success(value))
      } else {
        begun.append(flight)
      }
    }
    guard let first = begun.first else { return }
    // Cannot throw: nobody has had the time to make the flights wait for anything.
    let asking = begun.map { try! LoadGraph.willAwait($0) }
    defer {
      // The last one first: nothing lies behind it that would have to move.
      for (flight, asking) in zip(begun, asking).reversed() {
        LoadGraph.didAwait(flight, by: asking)
      }
    }
    for flight in begun { LoadGraph.join(flight, to: bulk) }
    // Observers of the storing are part of the load: they cannot wait for it either.
    begun.last?.whole = bulk
    bulk.including {
      let start = lrd_cache_now(core)
      let results: Result<[Key: Value], any Error>
      do throws(Failure) { results = .success(try load(begun.map(\.key))) } catch {
        results = .failure(error)
      }
      for flight in begun {
        let result = results.flatMap { values in
          values[flight.key].map { .success($0) } ?? .failure(NoValue())
        }
        let isFirst = flight === first
        switch result {
        case .success(let value):
          land(flight, in: allFlights(), loaded: value, since: start, isFirst: isFirst)
        case .failure(let error):
          land(flight, failed: error, since: start, isFirst: isFirst)
        }
        LoadGraph.part(flight)
        note(flight.key, result)
      }
    }
  }
}
