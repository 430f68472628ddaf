// SPDX-License-Identifier: Apache-2.0
import CLarder

/// A cache in the memory of one process, for many threads, bounded by count, cost, or both.
///
///     let thumbnails = Cache<String, Image>(countLimit: 10_000)
///     thumbnails["cat"] = image
///     if let image = thumbnails["cat"] { … }
///
/// **Threads.** Every member may be called from any thread at any time. A hit takes no lock and
/// stores only to memory of its own thread, save that every 64th notes the batch in the eviction
/// order if the lock is free; a write locks one shard. All operations are linearizable for each key.
///
/// **Release.** A value is released exactly once after it left the cache: before the call returns
/// while only one thread uses caches in the process, otherwise as soon as no reader holds it, by a
/// later write, the background thread, or ``reclaim()``. At most 256 entries a shard wait.
///
/// **Re-entry.** Observers, closures and `deinit`s of keys and values may call the cache. The one
/// exception is a key's `==`, which may run under a shard's lock and must not use any cache.
///
/// Complexities count one step for hashing or comparing a key.
public final class Cache<Key: Hashable & Sendable, Value: Sendable>: @unchecked Sendable {
  // Sendable: every stored property is constant; `core` is made for concurrent use (lrd_cache.h).

  /// Is told of a removed entry: on the thread that caused the removal, outside all locks, with the
  /// value alive. It may call the cache.
  public typealias RemovalObserver =
    @Sendable (_ key: Key, _ value: Value, _ cost: Int, _ cause: RemovalCause) -> Void

  @usableFromInline typealias Layout = EntryLayout<Key, Value>

  @usableFromInline let core: OpaquePointer
  @usableFromInline let hasher: KeyHasher<Key>
  @usableFromInline let observer: RemovalObserver?

  /// What the cache is called, for people who debug it.
  public let name: String

  /// How the cache chooses what to evict.
  public let policy: EvictionPolicy

  /// Creates an empty cache.
  ///
  /// - Parameters:
  ///   - countLimit: The most entries it may hold; 0 for no limit. Must not be negative.
  ///   - totalCostLimit: The most their costs may sum up to; 0 for no limit. Must not be negative.
  ///   - policy: How to choose what to evict.
  ///   - name: A name for people who debug it.
  ///   - shards: Parts with a lock and an order of their own, rounded up to a power of two, at most
  ///     64. More let more threads write at once, at the price of an order kept for each part only.
  ///     `nil` chooses by policy; ``EvictionPolicy/lru`` gets one, so that its order is exact.
  ///     Limits hold for the whole cache whatever the number.
  ///   - onRemoval: Is told of every entry that leaves, except when the cache itself goes away.
  ///     Without it removals are cheaper.
  /// - Complexity: O(`shards`). Traps without memory for an empty cache (about 1.4 KB).
  public init(
    countLimit: Int = 0, totalCostLimit: Int = 0, policy: EvictionPolicy = .default,
    name: String = "", shards: Int? = nil, onRemoval: RemovalObserver? = nil
  ) {
    precondition(countLimit >= 0, "countLimit must not be negative")
    precondition(totalCostLimit >= 0, "totalCostLimit must not be negative")
    precondition(shards ?? 1 > 0, "shards must be positive")
    var options = lrd_options(
      count_limit: UInt64(countLimit), cost_limit: UInt64(totalCostLimit),
      policy: policy.core, shards: Self.powerOfTwo(atLeast: shards ?? 1),
      entry_bytes: Layout.size, entry_alignment: Layout.alignment,
      observed: onRemoval != nil, hooks: TypedPairDestroyer<Key, Value>().hooks())
    guard let core = lrd_cache_create(&options) else {
      preconditionFailure("no memory for a cache")
    }
    self.core = core
    self.hasher = KeyHasher()
    self.observer = onRemoval
    self.name = name
    self.policy = policy
  }

  deinit {
    lrd_cache_close(core)
  }

  private static func powerOfTwo(atLeast shards: Int) -> UInt32 {
    var rounded: UInt32 = 1
    while rounded < shards && rounded < LRD_SHARDS_MOST { rounded *= 2 }
    return rounded
  }
}

extension EvictionPolicy {
  /// The core's functions for this policy.
  var core: UnsafePointer<lrd_policy> {
    switch self {
    case .lru: lrd_policy_lru()
    }
  }
}
