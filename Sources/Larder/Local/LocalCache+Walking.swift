// SPDX-License-Identifier: Apache-2.0
import CLarder

extension LocalCache where Value: ~Copyable {
  /// The number of entries stored. Never exceeds ``countLimit``.
  ///
  /// - Complexity: O(1).
  public var count: Int { Int(lrd_local_count(core)) }

  /// Whether no entry is stored.
  ///
  /// - Complexity: O(1).
  public var isEmpty: Bool { count == 0 }

  /// The sum of the costs of all entries, at most `Int.max`. Never exceeds ``totalCostLimit``.
  ///
  /// - Complexity: O(1).
  public var totalCost: Int { Int(lrd_local_cost(core)) }

  /// The most entries the cache may hold; 0 for no limit. Must not be negative. Setting a lower
  /// limit evicts the excess before the setter returns.
  ///
  /// - Complexity: O(1), plus O(1) for each entry evicted, or O(log *n*) for each with a policy
  ///   that orders by cost.
  public var countLimit: Int {
    get { Int(lrd_local_count_limit(core)) }
    set {
      enter()
      require(newValue >= 0, "countLimit must not be negative")
      lrd_local_set_limits(core, UInt64(newValue), lrd_local_cost_limit(core))
      trim(.max, .max)
    }
  }

  /// The most that the costs of all entries may add up to; 0 for no limit. Must not be negative,
  /// nor 0 with ``EvictionPolicy/cheapestFirst`` or ``EvictionPolicy/costAware``. Setting a lower
  /// limit evicts the excess before the setter returns.
  ///
  /// - Complexity: O(1), plus O(1) for each entry evicted, or O(log *n*) for each with a policy
  ///   that orders by cost.
  public var totalCostLimit: Int {
    get { Int(lrd_local_cost_limit(core)) }
    set {
      enter()
      require(newValue >= 0, "totalCostLimit must not be negative")
      policy.requireLimit(newValue, file: #fileID, line: #line)
      lrd_local_set_limits(core, lrd_local_count_limit(core), UInt64(newValue))
      trim(.max, .max)
    }
  }

  /// Evicts entries in the policy's order until at most `count` are left. The limits do not change.
  /// `count` must not be negative.
  ///
  /// - Complexity: O(1) for each entry evicted, or O(log *n*) with a policy that orders by cost.
  public func trim(toCount count: Int, file: StaticString = #fileID, line: UInt = #line) {
    enter(file: file, line: line)
    require(count >= 0, "count must not be negative", file: file, line: line)
    trim(UInt64(count), .max)
  }

  /// Evicts entries in the policy's order until the total cost is at most `cost`. The limits do not
  /// change. `cost` must not be negative. Entries of cost 0 are passed over as described in
  /// <doc:ChoosingLimits>.
  ///
  /// - Complexity: O(1) for each entry evicted, or O(log *n*) with a policy that orders by cost.
  public func trim(toCost cost: Int, file: StaticString = #fileID, line: UInt = #line) {
    enter(file: file, line: line)
    require(cost >= 0, "cost must not be negative", file: file, line: line)
    trim(.max, UInt64(cost))
  }

  private func trim(_ count: UInt64, _ cost: UInt64) {
    var removed = lrd_chain()
    lrd_local_trim(core, count, cost, &removed)
    finish(&removed)
    lrd_local_settle(core)
  }

  /// Removes all entries.
  ///
  /// - Complexity: O(*n*).
  public func removeAll() {
    enter()
    var removed = lrd_chain()
    lrd_local_remove_all(core, &removed)
    finish(&removed)
    lrd_local_settle(core)
  }

  /// Removes every entry for which `shouldBeRemoved` returns true. The closure is asked once about
  /// each entry that is stored when the call begins and has not left since. It may use the cache,
  /// as inside of ``withValue(forKey:_:)``.
  ///
  /// - Complexity: O(*n*). Allocates a list of *n* pointers.
  public func removeAll<Failure: Error>(
    where shouldBeRemoved: (Key, borrowing Value) throws(Failure) -> Bool
  ) throws(Failure) {
    func judge(_ entry: UnsafeMutablePointer<lrd_entry>) throws(Failure) {
      let remove = try shouldBeRemoved(
        entry.key(of: Layout.self).pointee, entry.value(of: Layout.self).pointee)
      if remove && isStored(entry) { self.remove(entry) }
    }
    try walk(judge)
  }

  /// Calls `body` with each entry that is stored when the call begins and has not left since,
  /// hottest first. It may use the cache, as inside of ``withValue(forKey:_:)``.
  ///
  /// - Complexity: O(*n*), plus `body`. Allocates a list of *n* pointers.
  public func forEach<Failure: Error>(
    _ body: (_ key: Key, _ value: borrowing Value, _ cost: Int) throws(Failure) -> Void
  ) throws(Failure) {
    func show(_ entry: UnsafeMutablePointer<lrd_entry>) throws(Failure) {
      try body(
        entry.key(of: Layout.self).pointee, entry.value(of: Layout.self).pointee,
        Int(clamping: lrd_entry_cost(entry)))
    }
    try walk(show)
  }

  /// The keys of all entries, hottest first.
  ///
  /// - Complexity: O(*n*).
  public var keys: [Key] { entries().map { $0.key(of: Layout.self).pointee } }

  /// What the cache has done since it was created. Nothing expires, and all hits are ordered.
  ///
  /// - Complexity: O(1).
  public var statistics: CacheStatistics {
    let sum = lrd_local_statistics(core)
    return CacheStatistics(
      hits: Int(sum.hits), misses: Int(sum.misses), insertions: Int(sum.insertions),
      replacements: Int(sum.replacements), removals: Int(sum.removals),
      refusals: Int(sum.refusals),
      countLimitEvictions: Int(sum.count_evictions),
      costLimitEvictions: Int(sum.cost_evictions),
      trimEvictions: Int(sum.trim_evictions), expirations: 0,
      evictionsByPressure: 0, unorderedHits: 0)
  }

  /// The bytes of memory that the cache holds for entries, tables and its policy; see
  /// ``Cache/memoryFootprint``.
  ///
  /// - Complexity: O(1).
  public var memoryFootprint: Int {
    let sum = lrd_local_statistics(core)
    return Int(sum.pool_bytes + sum.table_bytes + sum.policy_bytes)
  }

  /// Recomputes every invariant of the core, and stops the process if one is broken. For tests.
  package func checkInvariants() { lrd_local_check(core) }

  private func entries() -> [UnsafeMutablePointer<lrd_entry>] {
    enter()
    var entries: [UnsafeMutablePointer<lrd_entry>] = []
    entries.reserveCapacity(count)
    var next = lrd_local_first(core)
    while let entry = next {
      entries.append(entry)
      next = lrd_local_next(core, entry)
    }
    return entries
  }

  private func isStored(_ entry: UnsafeMutablePointer<lrd_entry>) -> Bool {
    lrd_entry_get_state(entry) == UInt8(LRD_ENTRY_LINKED.rawValue)
  }

  /// Visits the entries that are stored. All are on loan meanwhile: what leaves is destroyed later.
  private func walk<Failure: Error>(
    _ visit: (UnsafeMutablePointer<lrd_entry>) throws(Failure) -> Void
  ) throws(Failure) {
    let entries = entries()
    lrd_local_lend(core)
    defer { if lrd_local_end_loan(core) { destroyDeferred() } }
    for entry in entries where isStored(entry) { try visit(entry) }
  }
}
