// SPDX-License-Identifier: Apache-2.0

/// Gathers flights of single keys, so that one call of a loader of many keys serves them.
///
/// The first flight of a batch starts the window, at whose end the batch is loaded, unless it has
/// become full before: then whoever fills it does that, and the window ends for nothing. Until then
/// no flight of the batch has begun, in the sense of `Flights`, but those that refresh: these must
/// not replace what is written during the window.
final class Gatherer<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  struct Batch {
    var flights: [Flight<Key, Value>] = []
    /// Whether a load waits for one of them.
    var isNested = false
  }

  enum Place {
    /// The first of the batch of this number, which is to be taken when the window ends.
    case first(Int)
    case more
    case last(Batch)
  }

  private struct State {
    var batch = Batch()
    var number = 0
  }

  let gathering: LoadingOptions.Gathering
  private let state = Guarded(State())

  init(_ gathering: LoadingOptions.Gathering) { self.gathering = gathering }

  func add(_ flight: Flight<Key, Value>, isNested: Bool) -> Place {
    state.withLock { state in
      state.batch.flights.append(flight)
      if isNested { state.batch.isNested = true }
      if state.batch.flights.count >= gathering.most { return .last(Self.next(&state)) }
      return state.batch.flights.count == 1 ? .first(state.number) : .more
    }
  }

  /// Waits until the window of a batch ends, and takes the batch; `nil` if it was full before.
  func wait(forBatch number: Int) async -> Batch? {
    if gathering.delay > .zero {
      try? await Task.sleep(for: min(gathering.delay, .longestLifetime))
    } else {
      await Task.yield()
    }
    return state.withLock { $0.number == number ? Self.next(&$0) : nil }
  }

  private static func next(_ state: inout State) -> Batch {
    let batch = state.batch
    state.batch = Batch()
    state.number += 1
    return batch
  }
}

extension LoadingCache {
  /// Loads a flight's value, alone or with others.
  func start(_ flight: Flight<Key, Value>) {
    guard let gatherer, let loadAll else { return cache.start(flight, load, with: settings) }
    // A refresh begins even if there is a value.
    if flight.replaces { _ = cache.begin(flight) }
    // The task that loads the batch may be that of a less urgent caller.
    cache.allFlights().hurry(flight, to: Task.currentPriority)
    switch gatherer.add(flight, isNested: LoadNode.running != nil) {
    case .more: break
    case .last(let batch):
      cache.startTogether(batch.flights, loadAll, with: settings, isNested: batch.isNested)
    case .first(let number):
      Task { [cache, settings] in
        guard let batch = await gatherer.wait(forBatch: number) else { return }
        cache.startTogether(batch.flights, loadAll, with: settings, isNested: batch.isNested)
      }
    }
  }
}
