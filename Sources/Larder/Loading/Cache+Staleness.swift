// SPDX-License-Identifier: Apache-2.0
import CLarder

/// Values that have expired and may serve when loading fails.
///
/// They stay where they are: in the table, for the *grace* of the cache (`lrd_wheel.h`), where
/// every lookup takes them for absent. Only a load that has failed asks for them, under the shard's
/// lock. So whatever removes or replaces a key takes its expired value out, too, and the rule that
/// no value comes back after a removal needs no other argument.
extension Cache {
  /// The value of a key whose load has failed, if there is one that may serve. It is not stale if
  /// somebody has stored it meanwhile.
  func survivor(_ key: Key, _ hash: UInt64, of error: any Error) -> Loaded<Value>? {
    // These say something of the value or the callers, not of the source.
    if error is NoValue || error is LoadCycle || error is CancellationError { return nil }
    guard lrd_cache_has_grace(core) else { return nil }
    let shard = lrd_cache_shard(core, hash)
    var isStale = false
    lrd_shard_enter(core, nil, shard)
    var value: Value?
    if let entry = findLocked(key, hash, shard), lrd_entry_is_in_grace_locked(shard, entry) {
      isStale = lrd_entry_is_expired_locked(shard, entry)
      value = entry.value(of: Layout.self).pointee
    }
    lrd_shard_leave(core, shard)
    if isStale { allFlights().count(hash) { $0.stale += 1 } }
    return value.map { Loaded(value: $0, failure: isStale ? error : nil) }
  }

  /// Removes the value of a key that turned out to have none, unless the flight that found that is
  /// outdated: that of a refresh, one that has expired, and an evicted object that would get a
  /// second chance.
  func removeAbsent(_ flight: Flight<Key, Value>) {
    // If a write comes in between, it forgets the object of that, which loses its second chance.
    let secondChance = flight.isCurrent ? extras?.secondChance : nil
    _ = secondChance?.willWrite(flight.key, flight.hash)
    defer { secondChance?.didWrite(flight.hash) }
    // What is there though this load began without a value has expired, or was found again since.
    let takesAll = flight.replaces || secondChance != nil
    guard takesAll || lrd_cache_has_grace(core) else { return }
    removeEntry(in: lrd_cache_shard(core, flight.hash), because: LRD_REMOVED_BY_CALL) { shard in
      guard flight.isCurrent, let entry = findLocked(flight.key, flight.hash, shard),
        takesAll || lrd_entry_is_expired_locked(shard, entry)
      else { return nil }
      return entry
    }
  }
}

/// What a ``LoadingCache`` has for a key, and how good it is.
public struct Loaded<Value: Sendable>: Sendable {
  /// The value.
  public let value: Value

  /// Why the value could not be loaded anew after it had expired; `nil` if it has not.
  public let failure: (any Error)?

  /// Whether the value has expired, and serves only because it cannot be loaded
  /// (``LoadingOptions/staleIfError``).
  public var isStale: Bool { failure != nil }
}

extension LoadingCache {
  /// Returns the value of a key, and tells whether it is stale. Otherwise like ``value(forKey:)``.
  ///
  ///     let page = try await site.loaded(forKey: url)
  ///     if page.isStale { response.headers["Warning"] = "110" }
  @inlinable
  nonisolated(nonsending)
    public func loaded(forKey key: Key) async throws -> Loaded<Value>
  {
    let hash = cache.hasher.hash(key)
    if let value = found(key, hash) { return Loaded(value) }
    return try await loadedValue(key, hash)
  }
}

extension Loaded {
  @usableFromInline init(_ value: Value) {
    self.init(value: value, failure: nil)
  }
}
