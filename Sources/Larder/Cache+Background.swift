// SPDX-License-Identifier: Apache-2.0

extension Cache {
  /// Asynchronous forms of the calls that take long.
  ///
  ///     await images.background.removeAll { url, _ in url.host() == host }
  ///
  /// Lookups and single writes have no asynchronous form. They take less time than a task switch
  /// and never wait for other work, so call them from anywhere, the main actor included.
  public var background: BackgroundCalls { BackgroundCalls(cache: self) }

  /// The calls whose time grows with the cache, off the caller's actor on the global executor.
  ///
  /// Each one does what the cache's member of the same name does, and returns when that is done.
  /// Cancelling the task does not stop it. Observers and closures run on the executor's thread.
  public struct BackgroundCalls: Sendable {
    let cache: Cache

    /// Returns all entries, hottest first: ``Cache/snapshot()``.
    @concurrent public func snapshot() async -> [Element] { cache.snapshot() }

    /// Removes all entries: ``Cache/removeAll()``.
    @concurrent public func removeAll() async { cache.removeAll() }

    /// Removes every entry for which the closure returns true: ``Cache/removeAll(where:)``.
    @concurrent public func removeAll<Failure: Error>(
      where shouldBeRemoved: @Sendable (Key, Value) throws(Failure) -> Bool
    ) async throws(Failure) {
      try cache.removeAll(where: shouldBeRemoved)
    }

    /// Evicts entries down to a count: ``Cache/trim(toCount:file:line:)``.
    @concurrent public func trim(
      toCount count: Int, file: StaticString = #fileID, line: UInt = #line
    ) async {
      cache.trim(toCount: count, file: file, line: line)
    }

    /// Evicts entries down to a total cost: ``Cache/trim(toCost:file:line:)``.
    @concurrent public func trim(
      toCost cost: Int, file: StaticString = #fileID, line: UInt = #line
    ) async {
      cache.trim(toCost: cost, file: file, line: line)
    }

    /// Evicts the costliest entries: ``Cache/trimCostliest(toCost:file:line:)``.
    @concurrent public func trimCostliest(
      toCost cost: Int, file: StaticString = #fileID, line: UInt = #line
    ) async {
      cache.trimCostliest(toCost: cost, file: file, line: line)
    }

    /// Evicts the oldest entries down to a count: ``Cache/trimOldest(toCount:file:line:)``.
    @concurrent @discardableResult public func trimOldest(
      toCount count: Int, file: StaticString = #fileID, line: UInt = #line
    ) async -> Bool {
      cache.trimOldest(toCount: count, file: file, line: line)
    }

    /// Evicts the oldest entries down to a total cost: ``Cache/trimOldest(toCost:file:line:)``.
    @concurrent @discardableResult public func trimOldest(
      toCost cost: Int, file: StaticString = #fileID, line: UInt = #line
    ) async -> Bool {
      cache.trimOldest(toCost: cost, file: file, line: line)
    }

    /// Evicts the entries stored longer ago: ``Cache/trim(toAge:file:line:)``.
    @concurrent public func trim(
      toAge age: Duration, file: StaticString = #fileID, line: UInt = #line
    ) async {
      cache.trim(toAge: age, file: file, line: line)
    }

    /// Removes the entries that have expired: ``Cache/removeExpired()``.
    @concurrent @discardableResult public func removeExpired() async -> Int {
      cache.removeExpired()
    }

    /// Destroys removed entries that wait for it: ``Cache/reclaim()``.
    @concurrent public func reclaim() async { cache.reclaim() }
  }
}

extension Cache.BackgroundCalls where Value: AnyObject {
  /// Removes objects that nobody else holds: ``Cache/removeUnreferenced()``.
  @concurrent @discardableResult public func removeUnreferenced() async -> Int {
    cache.removeUnreferenced()
  }
}
