// SPDX-License-Identifier: Apache-2.0

/// A cache that loads what it does not have.
///
///     let pages = LoadingCache<URL, Page>(countLimit: 1_000) { url in
///       try await fetch(url)
///     }
///     let page = try await pages[url]
///
/// It is a ``Cache`` and a loader. Everything that a cache can do is done through ``cache``: look
/// at a value without loading it, store one, and above all remove one that has changed. Loads are
/// those of ``Cache/value(forKey:load:)-(_,(Key)->Value)``, which says how callers share them and
/// what outdates them; ``LoadingOptions`` adds limits, memory for failures, and refreshes.
///
/// A loader says that a key has no value by throwing ``NoValue``.
public final class LoadingCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// Returns the value of a key.
  public typealias Loader = @Sendable (Key) async throws -> Value

  /// The values that are there.
  public let cache: Cache<Key, Value>

  @usableFromInline let load: Loader
  let loadAll: (@Sendable ([Key]) async throws -> [Key: Value])?
  let settings: LoadSettings
  let gatherer: Gatherer<Key, Value>?
  /// The cache's.
  @usableFromInline let rule: RefreshRule?

  /// Creates an empty cache.
  ///
  /// - Parameters:
  ///   - countLimit: As for ``Cache``, like all others that are not described here.
  ///   - totalCostLimit: See ``Cache``. Without `cost` each loaded value counts 1.
  ///   - policy: See ``Cache``.
  ///   - name: See ``Cache``.
  ///   - cost: See ``Cache``. Loaded values have no other cost than this or the default.
  ///   - expiration: See ``Cache``.
  ///   - options: See ``Cache``. Values that are loaded are stored by the loading task, which tells
  ///     the observers.
  ///   - loading: How to load.
  ///   - loadAll: Returns the values of several keys, for ``values(forKeys:)`` and for
  ///     ``LoadingOptions/gathering``; `nil` to load them one by one.
  ///   - file: The file of the call, for the message of a trap.
  ///   - line: The line of the call, for the message of a trap.
  ///   - load: Returns the value of a key.
  /// - Complexity: Like that of creating a ``Cache``.
  public init(
    countLimit: Int = 0, totalCostLimit: Int = 0, policy: EvictionPolicy = .default,
    name: String = "", cost: Cache<Key, Value>.CostFunction? = nil,
    expiration: Expiration = .never,
    options: Cache<Key, Value>.Options = Cache<Key, Value>.Options(),
    loading: LoadingOptions = LoadingOptions(),
    loadAll: (@Sendable ([Key]) async throws -> [Key: Value])? = nil,
    file: StaticString = #fileID, line: UInt = #line, load: @escaping Loader
  ) {
    settings = LoadSettings(loading, for: Place(file: file, line: line))
    require(
      loading.gathering == nil || loadAll != nil, "gathering needs loadAll", file: file, line: line)
    gatherer = loading.gathering.map { Gatherer($0) }
    self.load = load
    self.loadAll = loadAll
    var options = options
    options.refreshing = loading.refreshing
    options.grace = loading.staleIfError ?? .zero
    cache = Cache(
      countLimit: countLimit, totalCostLimit: totalCostLimit, policy: policy, name: name,
      cost: cost, expiration: expiration, options: options, file: file, line: line)
    rule = cache.extras?.refresh
  }

  /// Creates an empty cache with shards and observers beside the limits, as one of ``Cache`` does.
  ///
  /// - Parameters:
  ///   - countLimit: As for the other initializer, like all that are not described here.
  ///   - totalCostLimit: See ``Cache``. Without `cost` each loaded value counts 1.
  ///   - policy: See ``Cache``.
  ///   - name: See ``Cache``.
  ///   - shards: Takes the place of ``Cache/Options/shards``, unless it is `nil`.
  ///   - onRemoval: Takes the place of ``Cache/Options/onRemoval``, unless it is `nil`.
  ///   - onInsertion: Takes the place of ``Cache/Options/onInsertion``, unless it is `nil`.
  ///   - cost: See ``Cache``.
  ///   - expiration: See ``Cache``.
  ///   - options: See ``Cache``.
  ///   - loading: How to load.
  ///   - loadAll: Returns the values of several keys.
  ///   - file: The file of the call, for the message of a trap.
  ///   - line: The line of the call, for the message of a trap.
  ///   - load: Returns the value of a key.
  /// - Complexity: Like that of creating a ``Cache``.
  public convenience init(
    countLimit: Int = 0, totalCostLimit: Int = 0, policy: EvictionPolicy = .default,
    name: String = "", shards: Int? = nil, onRemoval: Cache<Key, Value>.RemovalObserver? = nil,
    onInsertion: Cache<Key, Value>.InsertionObserver? = nil,
    cost: Cache<Key, Value>.CostFunction? = nil, expiration: Expiration = .never,
    options: Cache<Key, Value>.Options = Cache<Key, Value>.Options(),
    loading: LoadingOptions = LoadingOptions(),
    loadAll: (@Sendable ([Key]) async throws -> [Key: Value])? = nil,
    file: StaticString = #fileID, line: UInt = #line, load: @escaping Loader
  ) {
    self.init(
      countLimit: countLimit, totalCostLimit: totalCostLimit, policy: policy, name: name,
      cost: cost, expiration: expiration,
      options: options.with(shards: shards, onRemoval: onRemoval, onInsertion: onInsertion),
      loading: loading, loadAll: loadAll, file: file, line: line, load: load)
  }

  /// Returns the value of a key. If there is none, loads it. See ``value(forKey:)``.
  @inlinable
  nonisolated(nonsending)
    public subscript(key: Key) -> Value
  {
    get async throws { try await value(forKey: key) }
  }

  /// Returns the value of a key. If there is none, loads it, stores it and returns it.
  ///
  /// - Throws: What the loader throws, or threw lately (``LoadingOptions/failures``);
  ///   ``LoadCycle``; or `CancellationError` when the caller is cancelled while it waits, or before
  ///   it asks for what is not there.
  /// - Complexity: Like ``Cache/value(forKey:)`` if there is a value. Otherwise O(1) on average,
  ///   plus the load.
  @inlinable
  nonisolated(nonsending)
    public func value(forKey key: Key) async throws -> Value
  {
    let hash = cache.hasher.hash(key)
    if let value = found(key, hash) { return value }
    return try await loadedValue(key, hash).value
  }

  @usableFromInline @inline(never)
  nonisolated(nonsending)
    func loadedValue(_ key: Key, _ hash: UInt64) async throws -> Loaded<Value>
  {
    // The load of a batch is that of others, too.
    let goesOn = settings.goesOn || gatherer != nil
    do {
      return Loaded(try await cache.loadedValue(key, hash, goesOn: goesOn) { start($0) })
    } catch {
      guard let old = cache.survivor(key, hash, of: error) else { throw error }
      return old
    }
  }

  /// Removes the value of a key, because its source has changed, and outdates its load.
  /// The next caller loads it anew. See ``Cache/removeValue(forKey:)``.
  ///
  /// - Returns: The value that was removed; `nil` if there was none.
  /// - Complexity: O(1) on average. Locks one shard.
  @discardableResult
  public func removeValue(forKey key: Key) -> Value? { cache.removeValue(forKey: key) }

  /// Removes all values and outdates all loads. See ``Cache/removeAll()``.
  ///
  /// - Complexity: Like ``Cache/removeAll()``.
  public func removeAll() { cache.removeAll() }

  /// Begins to load the value of a key anew, unless a load of it is under way, or its failure or
  /// absence is remembered. Returns whether it did.
  ///
  /// Until the load is done, and if it fails, the value that is there serves. The new value
  /// replaces it, and a loader that throws ``NoValue`` removes it, unless the key is written to
  /// meanwhile: a value that was inserted stays, and one that was removed does not come back.
  /// Nobody waits for the load; those who miss join it. ``LoadingOptions/refreshAfter`` makes
  /// lookups do this.
  ///
  /// - Complexity: O(1) on average. The load runs in a task of its own.
  @discardableResult
  public func refresh(forKey key: Key) -> Bool {
    refresh(key, cache.hasher.hash(key))
  }

  @usableFromInline @inline(never) @discardableResult
  func refresh(_ key: Key, _ hash: UInt64) -> Bool {
    guard let flight = cache.allFlights().boardRefresh(key, hash) else { return false }
    start(flight)
    return true
  }

  /// What the loads of this cache have done. See ``Cache/loadStatistics``.
  public var statistics: LoadStatistics { cache.loadStatistics }
}
