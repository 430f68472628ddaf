// SPDX-License-Identifier: Apache-2.0

extension Cache {
  /// The calls that take long, to be awaited.
  ///
  ///     await images.background.removeAll { key, _ in key.user == user }
  ///
  /// Lookups and single writes take less than a task switch and never wait for other work, so they
  /// have no asynchronous form: call them from anywhere, the main actor included.
  public var background: BackgroundCalls { BackgroundCalls(cache: self) }

  /// Calls whose time grows with the cache, run off the caller's actor, on the global executor.
  ///
  /// Each does what the cache's member of the same name does, and has done it when it returns.
  /// Cancellation of the task does not stop them. Observers and closures run on the executor's
  /// thread.
  public struct BackgroundCalls: Sendable {
    let cache: Cache

    /// All entries, hottest first: ``Cache/snapshot()``.
    @concurrent public func snapshot() async -> [Element] { cache.snapshot() }

    /// Removes all entries: ``Cache/removeAll()``.
    @concurrent public func removeAll() async { cache.removeAll() }

    /// Removes every entry the closure agrees to: ``Cache/removeAll(where:)``.
    @concurrent public func removeAll(
      where shouldBeRemoved: @Sendable (Key, Value) throws -> Bool
    ) async rethrows {
      try cache.removeAll(where: shouldBeRemoved)
    }

    /// Evicts down to a count: ``Cache/trim(toCount:)``.
    @concurrent public func trim(toCount count: Int) async { cache.trim(toCount: count) }

    /// Evicts down to a total cost: ``Cache/trim(toCost:)``.
    @concurrent public func trim(toCost cost: Int) async { cache.trim(toCost: cost) }

    /// Evicts the costliest: ``Cache/trimCostliest(toCost:)``.
    @concurrent public func trimCostliest(toCost cost: Int) async {
      cache.trimCostliest(toCost: cost)
    }

    /// Evicts the oldest: ``Cache/trimOldest(toCount:)``.
    @concurrent public func trimOldest(toCount count: Int) async {
      cache.trimOldest(toCount: count)
    }

    /// Evicts the oldest: ``Cache/trimOldest(toCost:)``.
    @concurrent public func trimOldest(toCost cost: Int) async { cache.trimOldest(toCost: cost) }

    /// Destroys what was removed: ``Cache/reclaim()``.
    @concurrent public func reclaim() async { cache.reclaim() }
  }
}

extension Cache.BackgroundCalls where Value: AnyObject {
  /// Removes what nobody else holds: ``Cache/removeUnreferenced()``.
  @concurrent @discardableResult public func removeUnreferenced() async -> Int {
    cache.removeUnreferenced()
  }
}
