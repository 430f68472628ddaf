// SPDX-License-Identifier: Apache-2.0
import CLarder

extension Cache {
  /// The number of entries stored. Never exceeds ``countLimit``, except while that is being
  /// lowered. Includes what has expired for at most a second after its deadline, unless the machine
  /// is overloaded.
  ///
  /// - Complexity: O(1), without a lock.
  public var count: Int { Int(lrd_cache_count(core)) }

  /// Whether no entry is stored; see ``count``.
  ///
  /// - Complexity: O(1), without a lock.
  public var isEmpty: Bool { count == 0 }

  /// The sum of the costs of all entries, at most `Int.max`. Never exceeds ``totalCostLimit``,
  /// except while that is being lowered. Includes what has expired, as ``count`` does.
  ///
  /// - Complexity: O(1), without a lock.
  public var totalCost: Int { Int(lrd_cache_cost(core)) }

  /// The most entries the cache may hold; 0 for no limit. Must not be negative.
  ///
  /// Setting a lower limit evicts the excess before the setter returns.
  ///
  /// - Complexity: O(1), plus O(1) for each entry evicted.
  public var countLimit: Int {
    get { Int(lrd_cache_own_count_limit(core)) }
    set {
      require(newValue >= 0, "countLimit must not be negative")
      lrd_cache_set_count_limit(core, UInt64(newValue))
      trim(.max, .max)
    }
  }

  /// The most that the costs of all entries may add up to; 0 for no limit.
  ///
  /// Setting a lower limit evicts the excess before the setter returns. Must not be negative, nor 0
  /// with ``EvictionPolicy/cheapestFirst`` or ``EvictionPolicy/costAware``.
  ///
  /// - Complexity: O(1), plus O(1) for each entry evicted.
  public var totalCostLimit: Int {
    get { Int(lrd_cache_own_cost_limit(core)) }
    set {
      require(newValue >= 0, "totalCostLimit must not be negative")
      policy.requireLimit(newValue, file: #fileID, line: #line)
      lrd_cache_set_cost_limit(core, UInt64(newValue))
      trim(.max, .max)
    }
  }

  /// Evicts entries in the policy's order until at most `count` are left. The limits do not change.
  /// What each policy keeps is in <doc:ChoosingAPolicy>.
  ///
  /// - Parameters:
  ///   - count: The number of entries to keep. Must not be negative.
  ///   - file: The file of the call, for the message of a trap.
  ///   - line: The line of the call, for the message of a trap.
  /// - Complexity: O(1) for each entry evicted. Locks one shard at a time, for a few entries each.
  public func trim(
    toCount count: Int, file: StaticString = #fileID, line: UInt = #line
  ) {
    require(count >= 0, "count must not be negative", file: file, line: line)
    trim(UInt64(count), .max)
  }

  /// Evicts entries in the policy's order until the total cost is at most `cost`. The limits do not
  /// change. Entries of cost 0 are passed over as described in <doc:ChoosingLimits>.
  ///
  /// - Parameters:
  ///   - cost: The total cost to keep. Must not be negative.
  ///   - file: The file of the call, for the message of a trap.
  ///   - line: The line of the call, for the message of a trap.
  /// - Complexity: O(1) for each entry evicted. Locks one shard at a time, for a few entries each.
  public func trim(
    toCost cost: Int, file: StaticString = #fileID, line: UInt = #line
  ) {
    require(cost >= 0, "cost must not be negative", file: file, line: line)
    trim(.max, UInt64(cost))
  }

  /// Evicts at most `most` entries, and no more than there are now. Entries that others insert
  /// meanwhile are for their own insertions to evict.
  func trim(_ count: UInt64, _ cost: UInt64, atMost most: UInt64 = .max) {
    let lane = lrd_lane_attach(core)
    var plan = lrd_trim_plan(core, count, cost, most)
    var done = false
    while !done {
      let moment = extras?.secondChance?.moment() ?? 0
      var garbage = lrd_garbage()
      done = lrd_trim_some(core, lane, &garbage, &plan)
      finish(&garbage, lane, since: moment)
    }
  }

  /// Destroys all removed entries that no reader holds, before it returns, and gives memory back to
  /// the system: what entries do not need, and what the allocator keeps for later, in the whole
  /// process.
  ///
  /// If entries lie scattered over many pages, as after a trim, they are moved together first,
  /// unless less than an eighth of the pages is won. Only what lies in entries moves: the memory of
  /// objects, arrays and strings, to which they refer, is the allocator's, and goes back as far as
  /// it can give it; see <doc:GivingWay#Memory-goes-back>. A table is replaced where one with
  /// room for its entries and a quarter more would be an eighth smaller or more.
  ///
  /// Up to four entries that another thread is destroying, or is about to, may outlive the call,
  /// and those that the release of another value removes from the cache meanwhile. Each value that
  /// is moved has a second reference for a moment, as while it is looked up. With
  /// ``Options/release`` that is released by its receiver, too.
  ///
  /// With ``Options/secondChances`` the call also forgets evicted objects that have died. To look
  /// at an object it must take a reference, which may be the last one by the time it lets go. So
  /// with ``Options/release`` it hands every living object to the receiver once more; the receiver
  /// had it already when it left the cache. The object counts against the `pendingLimit` until its
  /// batch is released.
  ///
  /// Any thread may call it, from closures of the cache and from observers, too. Calls that move
  /// entries take turns. One that is made while such a call of the same thread hands values to the
  /// receiver of ``Options/release`` moves none.
  ///
  /// - Complexity: O(*w* + *t*) for *w* waiting entries and *t* threads, plus O(1) for each of
  ///   ``Options/secondChances``; O(*n*) if entries are moved, 16 under each lock. The allocator
  ///   takes up to some milliseconds; glibc's `malloc`, tenths of a second where a million blocks
  ///   are free.
  public func reclaim() {
    extras?.secondChance?.clean()
    let lane = lrd_lane_attach(core)
    lrd_shrink(core)
    var garbage = lrd_garbage()
    lrd_garbage_reclaim(core, &garbage)
    finish(&garbage, lane)
    lrd_compact(core, lane)
    lrd_garbage_give_back(core)
  }
}
