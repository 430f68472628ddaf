// SPDX-License-Identifier: Apache-2.0
import CLarder

/// A cache for one actor or one thread: no locks, no atomic read-modify-writes, any values.
///
///     let pages = LocalCache<Int, Page>(countLimit: 1_000)
///     pages[7] = page
///     pages.withMutableValue(forKey: 7) { $0.visits += 1 }
///
/// Limits, policies, costs and statistics are those of ``Cache``. The same calls keep and evict the
/// same entries as in a `Cache` with one shard, or nearly the same where the policy remembers keys
/// that are gone or learns from samples: what two caches remember differs, as each hashes keys in
/// its own way. It differs in these points:
///
/// **Threads.** It is not `Sendable`: the compiler keeps it within one actor, task or thread. In
/// return, with integers as keys, a hit and an insertion into free room take less than three fifths
/// of the instructions. An insertion that evicts takes nearly as many.
///
/// **Values.** They need not be `Sendable`, nor copyable: ``withValue(forKey:_:)`` lends them and
/// ``withMutableValue(forKey:file:line:_:)`` changes them in place. Keys need not be `Sendable`.
///
/// **Release.** A value that leaves is released before the call returns, or when the outermost
/// ``withValue(forKey:_:)``, ``forEach(_:)`` or ``removeAll(where:)`` ends, if the call was made
/// inside one.
///
/// **Re-entry.** Observers, closures and `deinit`s may use the cache, with these exceptions. While
/// ``withMutableValue(forKey:file:line:_:)`` runs its closure, lookups, writes and walks trap. It
/// and ``takeValue(forKey:file:line:)`` trap inside the three calls above, which may have lent the
/// value. And a key's `==` and `hash(into:)` must not use the cache.
///
/// **What it has not.** Entries do not expire, memory pressure is not answered, and there are no
/// loads, groups, second chances or other optional features: use a `Cache` for these. The table
/// grows at once, like a dictionary's, so now and then an insertion takes O(*n*). What ``Cache``
/// says of keys with equal hashes, and of caches that hold caches, holds here, too.
///
/// Complexities count one step for hashing or comparing a key.
public final class LocalCache<Key: Hashable, Value: ~Copyable> {
  /// Receives each removed entry, before its value is released. It may use the cache. If it stores
  /// a value in a full cache, it is called for what that evicts before the call returns: it must
  /// not store one for each removal without end.
  public typealias RemovalObserver =
    (_ key: Key, _ value: borrowing Value, _ cost: Int, _ cause: RemovalCause) -> Void

  /// Returns the cost of a value that is inserted without one. Must not return a negative number:
  /// the message of the trap names the place where the cache was created.
  public typealias CostFunction = (_ key: Key, _ value: borrowing Value) -> Int

  @usableFromInline typealias Layout = PairLayout<Key, Value>

  @usableFromInline let core: OpaquePointer
  @usableFromInline let hasher: KeyHasher<Key>
  @usableFromInline let observer: RemovalObserver?
  @usableFromInline let cost: CostFunction?

  /// A name for people who debug the cache.
  public let name: String

  /// How the cache chooses what to evict.
  public let policy: EvictionPolicy

  /// Creates an empty cache.
  ///
  /// - Parameters:
  ///   - countLimit: The most entries the cache may hold; 0 for no limit. Must not be negative.
  ///   - totalCostLimit: The most their costs may add up to; 0 for no limit. Must not be negative.
  ///   - policy: How to choose what to evict. ``EvictionPolicy/cheapestFirst`` and
  ///     ``EvictionPolicy/costAware`` need a total cost limit.
  ///   - name: A name for people who debug the cache.
  ///   - onRemoval: Receives every entry that leaves, except when the cache itself goes away.
  ///   - cost: Computes the cost of a value inserted without one.
  ///   - file: The file of the call, for the message of a trap.
  ///   - line: The line of the call, for the message of a trap.
  /// - Complexity: O(1). Traps if there is no memory for an empty cache.
  public convenience init(
    countLimit: Int = 0, totalCostLimit: Int = 0, policy: EvictionPolicy = .default,
    name: String = "", onRemoval: RemovalObserver? = nil, cost: CostFunction? = nil,
    file: StaticString = #fileID, line: UInt = #line
  ) {
    self.init(
      hasher: KeyHasher(), countLimit: countLimit, totalCostLimit: totalCostLimit, policy: policy,
      name: name, onRemoval: onRemoval, cost: cost, file: file, line: line)
  }

  /// A cache with hashes that repeat, for tests.
  package init(
    hasher: KeyHasher<Key>, countLimit: Int = 0, totalCostLimit: Int = 0,
    policy: EvictionPolicy = .default, name: String = "", onRemoval: RemovalObserver? = nil,
    cost: CostFunction? = nil, file: StaticString = #fileID, line: UInt = #line
  ) {
    require(countLimit >= 0, "countLimit must not be negative", file: file, line: line)
    require(totalCostLimit >= 0, "totalCostLimit must not be negative", file: file, line: line)
    policy.requireLimit(totalCostLimit, file: file, line: line)
    let options = lrd_local_options(
      count_limit: UInt64(countLimit), cost_limit: UInt64(totalCostLimit), policy: policy.core,
      entry_bytes: Layout.size, entry_alignment: Layout.alignment, costed: cost != nil)
    guard let core = lrd_local_create(options) else {
      stop("no memory for a cache", file: file, line: line)
    }
    self.core = core
    self.hasher = hasher
    self.observer = onRemoval
    self.cost = cost.map { cost in
      { key, value in
        let cost = cost(key, value)
        require(
          cost >= 0, "the cost function must not return a negative cost", file: file, line: line)
        return cost
      }
    }
    self.name = name
    self.policy = policy
  }

  deinit {
    var removed = lrd_chain()
    lrd_local_remove_all(core, &removed)
    destroy(&removed)
    lrd_local_close(core)
  }
}

@available(*, unavailable, message: "A LocalCache takes no locks. Use a Cache to share it.")
extension LocalCache: Sendable where Value: ~Copyable {}
