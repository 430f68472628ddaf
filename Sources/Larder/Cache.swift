// SPDX-License-Identifier: Apache-2.0
package import CLarder

/// A cache in the memory of one process, for many threads, bounded by count, cost, or both.
///
///     let thumbnails = Cache<String, Image>(countLimit: 10_000)
///     thumbnails["cat"] = image
///     if let image = thumbnails["cat"] { … }
///
/// **Threads.** Every member may be called from any thread at any time. A hit takes no lock and
/// stores only to memory of its own thread and, as the policy wants it, a small count in the entry
/// until that is at its most; or every 64th notes the batch in the eviction order if the lock is
/// free. A write locks one shard. All operations are linearizable for each key.
///
/// **Release.** A value is released exactly once after it left the cache: before the call returns
/// while only one thread uses caches in the process, otherwise as soon as no reader holds it, by a
/// later write, the background thread, or ``reclaim()``; elsewhere if ``Options/release`` says so.
/// At most 256 entries a shard wait, or a sixteenth of a large shard, up to 2,048; beside these,
/// what readers hold and what threads are looking through or destroying.
///
/// **Re-entry.** Observers, closures and `deinit`s of keys and values may call the cache. The one
/// exception is a key's `==`, which may run under a shard's lock and must not use any cache; with
/// groups or second chances, `hash(into:)` likewise.
///
/// Complexities count one step for hashing or comparing a key.
public final class Cache<Key: Hashable & Sendable, Value: Sendable>: @unchecked Sendable {
  // Sendable: every stored property is constant; `core` is made for concurrent use (lrd_cache.h).

  /// Is told of a removed entry: on the thread that caused the removal, outside all locks, with the
  /// value alive. It may call the cache.
  public typealias RemovalObserver =
    @Sendable (_ key: Key, _ value: Value, _ cost: Int, _ cause: RemovalCause) -> Void

  /// Is told of a stored value: on the thread that stored it, outside all locks, after the removals
  /// that the same call caused. It may call the cache. `cost` is the cost the value is stored with.
  public typealias InsertionObserver =
    @Sendable (_ key: Key, _ value: Value, _ cost: Int) -> Void

  /// Tells the cost of a value that is inserted without one. Must not be negative.
  public typealias CostFunction = @Sendable (_ key: Key, _ value: Value) -> Int

  @usableFromInline typealias Layout = EntryLayout<Key, Value>

  @usableFromInline let core: OpaquePointer
  @usableFromInline let hasher: KeyHasher<Key>
  @usableFromInline let observer: RemovalObserver?
  /// What was asked for beyond keeping values, `nil` for most caches. Lookups never ask.
  @usableFromInline let extras: Extras<Key, Value>?

  /// What the cache is called, for people who debug it.
  public let name: String

  /// How the cache chooses what to evict.
  public let policy: EvictionPolicy

  /// Creates an empty cache.
  ///
  /// - Parameters:
  ///   - countLimit: The most entries it may hold; 0 for no limit. Must not be negative.
  ///   - totalCostLimit: The most their costs may sum up to; 0 for no limit. Must not be negative.
  ///   - policy: How to choose what to evict. ``EvictionPolicy/cheapestFirst`` and
  ///     ``EvictionPolicy/costAware`` need a total cost limit.
  ///   - name: A name for people who debug it.
  ///   - shards: Parts with a lock and an order of their own, rounded up to a power of two, at most
  ///     64. More let more threads write at once, at the price of an order kept for each part only.
  ///     `nil` chooses: one, so that the order is exact; but with ``EvictionPolicy/adaptive``,
  ///     which has no order to keep, up to 16, twice as many as processors and each of 512
  ///     entries or more. Limits hold for the whole cache whatever the number.
  ///   - onRemoval: Is told of every entry that leaves, except when the cache itself goes away.
  ///     Without it removals are cheaper.
  ///   - onInsertion: Is told of every value that is stored.
  ///   - cost: Tells the cost of values inserted without one: called once for each, on the
  ///     inserting thread, without a lock. A cost given with an insertion goes first.
  ///   - options: What else the cache does, nothing unless said.
  /// - Complexity: O(`shards`). Traps without memory for an empty cache (about 2 KB with
  ///   one shard).
  public init(
    countLimit: Int = 0, totalCostLimit: Int = 0, policy: EvictionPolicy = .default,
    name: String = "", shards: Int? = nil, onRemoval: RemovalObserver? = nil,
    onInsertion: InsertionObserver? = nil, cost: CostFunction? = nil,
    options: Options = Options()
  ) {
    require(countLimit >= 0, "countLimit must not be negative")
    require(totalCostLimit >= 0, "totalCostLimit must not be negative")
    require(shards ?? 1 > 0, "shards must be positive")
    policy.requireLimit(totalCostLimit)
    let extras = Extras<Key, Value>(onInsertion: onInsertion, cost: cost, options: options)
    var settings = lrd_options(
      count_limit: UInt64(countLimit), cost_limit: UInt64(totalCostLimit),
      policy: policy.core,
      shards: UInt32(clamping: shards ?? 0),
      entry_bytes: options.remembersAge ? Layout.sizeWithAge : Layout.size,
      entry_alignment: Layout.alignment,
      references: Layout.references,
      observed: onRemoval != nil || extras?.watchesRemovals == true,
      hooks: TypedPairDestroyer<Key, Value>(releaser: extras?.releaser).hooks())
    guard let core = lrd_cache_create(&settings) else {
      stop("no memory for a cache")
    }
    self.core = core
    self.hasher = options.hashSeeds.map(KeyHasher.init(seed0:seed1:)) ?? KeyHasher()
    self.observer = onRemoval
    self.extras = extras
    self.name = name
    self.policy = policy
  }

  deinit {
    lrd_cache_close(core)
  }
}

extension EvictionPolicy {
  /// The core's functions for this policy.
  package var core: UnsafePointer<lrd_policy> {
    switch self {
    case .lru: lrd_policy_lru()
    case .fifo: lrd_policy_fifo()
    case .lfu: lrd_policy_lfu()
    case .clock: lrd_policy_clock()
    case .sieve: lrd_policy_sieve()
    case .s3fifo: lrd_policy_s3fifo()
    case .tinyLFU: lrd_policy_tiny_lfu()
    case .twoQueue: lrd_policy_two_queue()
    case .cheapestFirst: lrd_policy_cheapest_first()
    case .costAware: lrd_policy_cost_aware()
    case .adaptive: lrd_policy_adaptive()
    }
  }
}
