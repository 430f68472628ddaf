// SPDX-License-Identifier: Apache-2.0
import CLarder

extension Cache {
  /// What the cache does when memory runs short. Setting it takes effect at once: if memory is
  /// short now, or the program in the background, the cache answers before the setter returns. A
  /// cache that is created then does so, too.
  ///
  /// - Complexity: O(1), plus O(1) for each entry evicted. If there are any, the allocator then
  ///   returns memory to the system, which takes some milliseconds at most; with glibc's `malloc`,
  ///   tenths of a second where a million blocks are free.
  public var pressure: PressureResponse {
    get { destroyer.response.withLock { $0.current } }
    set { setPressure(newValue) }
  }

  /// ``countLimit``, or what pressure has lowered it to; 0 for no limit.
  ///
  /// - Complexity: O(1), without a lock.
  public var effectiveCountLimit: Int { Int(lrd_cache_count_limit(core)) }

  /// ``totalCostLimit``, or what pressure has lowered it to; 0 for no limit. A value that costs
  /// more is not stored meanwhile.
  ///
  /// - Complexity: O(1), without a lock.
  public var effectiveTotalCostLimit: Int { Int(lrd_cache_cost_limit(core)) }

  func setPressure(_ response: PressureResponse) {
    var core = response.core
    // What the earlier response holds may die: not under the lock.
    let earlier = destroyer.response.withLock { state in
      let earlier = state.current
      state.current = response
      state.version += 1
      core.version = state.version
      return earlier
    }
    withExtendedLifetime(earlier) {}
    // If another thread has set one since, the core drops this one.
    lrd_cache_set_response(self.core, &core)
  }
}
