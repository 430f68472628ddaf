// SPDX-License-Identifier: Apache-2.0
package import CLarder
import Synchronization

/// A cache in the memory of one process, for many threads, bounded by count, by cost, or by both.
///
///     let thumbnails = Cache<String, Image>(countLimit: 10_000)
///     thumbnails["cat"] = image
///     if let image = thumbnails["cat"] { … }
///
/// **Threads.** Every member may be called from any thread at any time. A hit takes no lock and
/// stores only to memory of its own thread, with exceptions that depend on the policy and on what
/// else the cache does: <doc:Synchronization#What-a-hit-writes> lists all. Most policies count hits
/// in a byte of the entry, until that is at its small maximum. Others note a thread's hits in the
/// eviction order, 64 at a time, if the lock is free. A thread's first use of
/// a cache takes a lock. A write locks one shard. All operations are linearizable for each key;
/// but for two milliseconds after a deadline, see <doc:Expiring#How-exact-it-is>.
///
/// **Release.** A value that has left the cache is released exactly once. While only one thread of
/// the process uses caches, that happens before the call returns. Otherwise a later write, the
/// background thread or ``reclaim()`` releases it as soon as no reader holds it. A bounded number
/// of removed values waits for this; <doc:Synchronization#Bounds> has the numbers.
/// ``Options/release`` can name another place for the release.
///
/// **Re-entry.** Observers, closures and the `deinit`s of keys and values may use the cache. A
/// key's `==` is the one exception: it may run under a shard's lock and must not use any cache.
/// With groups or second chances the same holds for `hash(into:)`.
///
/// **Keys.** Entries whose keys have exactly the same hash are compared one after the other, so *n*
/// of them take O(*n*) for each lookup. Hashes are keyed for each cache, but what a key's
/// `hash(into:)` leaves out nobody can tell apart: Foundation's `Data` leaves out all but its first
/// 80 bytes. Use the `DataKey` of LarderObjects instead, whose `ObjectCache` does so for the
/// classes of Foundation. ``AnyKey`` wraps keys of several types.
///
/// A cache that is destroyed destroys its values on the same stack. A value that holds the next
/// cache, which holds the next, and so on for thousands, overflows the stack, as a long chain of
/// any objects does; so cut such a chain from its far end.
///
/// Complexities count one step for hashing or comparing a key.
public final class Cache<Key: Hashable & Sendable, Value: Sendable>: @unchecked Sendable {
  // Sendable: every stored property is constant; `core` is made for concurrent use (lrd_cache.h).

  /// Receives each removed entry, on the thread that caused the removal, outside all locks, with
  /// the value alive. It may use the cache. If it stores a value in a full cache, that evicts
  /// another entry, and the observer is called for it before its own call of the cache returns. So
  /// it must not store a value for each removal without end: the calls nest on the stack. Entries
  /// that have expired may also be removed by the background thread. The cache does not go away
  /// while that tells of them.
  public typealias RemovalObserver =
    @Sendable (_ key: Key, _ value: Value, _ cost: Int, _ cause: RemovalCause) -> Void

  /// Receives each stored value, on the thread that stored it, outside all locks, after the
  /// removals that the same call caused. It may use the cache. `cost` is the cost of the stored
  /// entry.
  public typealias InsertionObserver =
    @Sendable (_ key: Key, _ value: Value, _ cost: Int) -> Void

  /// Returns the cost of a value that is inserted without one. Must not return a negative number.
  public typealias CostFunction = @Sendable (_ key: Key, _ value: Value) -> Int

  @usableFromInline typealias Layout = EntryLayout<Key, Value>

  @usableFromInline let core: OpaquePointer
  @usableFromInline let hasher: KeyHasher<Key>
  @usableFromInline let observer: RemovalObserver?
  /// The optional features asked for, `nil` for most caches. Lookups never look at them.
  @usableFromInline let extras: Extras<Key, Value>?
  /// Made when the first observer is added.
  let added = AtomicLazyReference<AddedObservers<Key, Value>>()
  /// What the core calls by itself. The core retains it too.
  let destroyer: TypedPairDestroyer<Key, Value>

  /// The loads under way. None is made before the first load.
  let flightTable = AtomicLazyReference<AnyFlights>()

  /// A name for people who debug the cache.
  public let name: String

  /// How the cache chooses what to evict.
  public let policy: EvictionPolicy

  /// Creates an empty cache.
  ///
  ///     let pages = Cache<String, Page>(
  ///       countLimit: 10_000,
  ///       options: .init(shards: 4, onRemoval: { path, _, _, _ in log(path) }))
  ///
  /// - Parameters:
  ///   - countLimit: The most entries the cache may hold; 0 for no limit. Must not be negative.
  ///   - totalCostLimit: The most their costs may add up to; 0 for no limit. Must not be negative.
  ///   - policy: How to choose what to evict. ``EvictionPolicy/cheapestFirst`` and
  ///     ``EvictionPolicy/costAware`` need a total cost limit.
  ///   - name: A name for people who debug the cache.
  ///   - cost: Computes the cost of a value inserted without one. It is called once for each such
  ///     value, on the inserting thread, without a lock. A cost given with an insertion takes
  ///     precedence.
  ///   - expiration: When entries expire.
  ///   - options: Everything else: observers, shards, and features that are off by default.
  ///   - file: The file of the call, for the message of a trap.
  ///   - line: The line of the call, for the message of a trap.
  /// - Complexity: O(``Options/shards`` + ``Options/rememberedEvictions``). Traps if there is no
  ///   memory for an empty cache, which takes little: <doc:ChoosingLimits#The-memory-of-an-entry>.
  public init(
    countLimit: Int = 0, totalCostLimit: Int = 0, policy: EvictionPolicy = .default,
    name: String = "", cost: CostFunction? = nil, expiration: Expiration = .never,
    options: Options = Options(),
    file: StaticString = #fileID, line: UInt = #line
  ) {
    require(countLimit >= 0, "countLimit must not be negative", file: file, line: line)
    require(totalCostLimit >= 0, "totalCostLimit must not be negative", file: file, line: line)
    require(options.shards ?? 1 > 0, "shards must be positive", file: file, line: line)
    policy.requireLimit(totalCostLimit, file: file, line: line)
    let extras = Extras<Key, Value>(
      cost: cost, options: options, for: Place(file: file, line: line))
    let destroyer = TypedPairDestroyer<Key, Value>(extras)
    var settings = lrd_options(
      count_limit: UInt64(countLimit), cost_limit: UInt64(totalCostLimit),
      policy: policy.core,
      shards: UInt32(clamping: options.shards ?? 0),
      entry_bytes: extras?.refresh?.end ?? Layout.size(withAge: options.remembersAge),
      entry_alignment: Layout.alignment,
      references: Layout.references,
      observed: options.onRemoval != nil || extras?.watchesRemovals == true,
      costed: cost != nil || options.expectsCosts,
      timed: expiration != .never || options.expire,
      expiration: expiration.core, detours: extras?.refresh != nil,
      grace: options.grace.nanoseconds,
      clock: options.clock.manualClock?.core, hooks: destroyer.hooks())
    guard let core = lrd_cache_create(&settings) else {
      stop("no memory for a cache", file: file, line: line)
    }
    self.core = core
    self.hasher = options.hashSeeds.map(KeyHasher.init(seed0:seed1:)) ?? KeyHasher()
    self.observer = options.onRemoval
    self.extras = extras
    self.destroyer = destroyer
    self.name = name
    self.policy = policy
    if settings.observed { destroyer.serve(self) }
    setPressure(options.pressure)
  }

  deinit {
    lrd_cache_close(core)
  }
}

extension EvictionPolicy {
  /// The core's functions for this policy.
  package var core: UnsafePointer<lrd_policy> {
    switch self {
    case .lru: lrd_policy_of(LRD_POLICY_LRU)
    case .fifo: lrd_policy_of(LRD_POLICY_FIFO)
    case .lfu: lrd_policy_of(LRD_POLICY_LFU)
    case .clock: lrd_policy_of(LRD_POLICY_CLOCK)
    case .sieve: lrd_policy_of(LRD_POLICY_SIEVE)
    case .s3fifo: lrd_policy_of(LRD_POLICY_S3FIFO)
    case .tinyLFU: lrd_policy_of(LRD_POLICY_TINY_LFU)
    case .twoQueue: lrd_policy_of(LRD_POLICY_TWO_QUEUE)
    case .cheapestFirst: lrd_policy_of(LRD_POLICY_CHEAPEST_FIRST)
    case .costAware: lrd_policy_of(LRD_POLICY_COST_AWARE)
    case .adaptive: lrd_policy_of(LRD_POLICY_ADAPTIVE)
    }
  }
}
