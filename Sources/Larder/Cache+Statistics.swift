// SPDX-License-Identifier: Apache-2.0
import CLarder

extension Cache {
  /// What the cache has done since it was created.
  ///
  /// - Complexity: O(*t* + *s*) for *t* threads that have used the cache and *s* shards, which are
  ///   locked one after the other.
  public var statistics: CacheStatistics {
    let sum = lrd_cache_statistics(core)
    return CacheStatistics(
      hits: Int(sum.hits), misses: Int(sum.misses), insertions: Int(sum.insertions),
      replacements: Int(sum.replacements), removals: Int(sum.removals),
      refusals: Int(sum.refusals),
      countLimitEvictions: Int(sum.count_evictions),
      costLimitEvictions: Int(sum.cost_evictions),
      trimEvictions: Int(sum.trim_evictions),
      expirations: Int(sum.expirations),
      evictionsByPressure: Int(sum.pressure_evictions),
      unorderedHits: Int(sum.dropped))
  }

  /// The bytes of memory that the cache holds for entries, tables and its policy. They do not
  /// include what keys and values refer to, such as objects and the text of strings.
  ///
  /// - Complexity: O(*s*) for *s* shards, which are locked one after the other.
  public var memoryFootprint: Int {
    let sum = lrd_cache_statistics(core)
    return Int(sum.pool_bytes + sum.table_bytes + sum.policy_bytes)
  }

  /// The number of entries removed and not destroyed yet, for tests.
  package var retiredCount: Int { Int(lrd_cache_statistics(core).waiting) }

  /// The number of entries the policy has looked at in search of victims, for tests.
  package var victimSteps: Int { Int(lrd_cache_statistics(core).victim_steps) }

  /// The most entries the policy may look at for one victim, for tests.
  package var victimStepsMost: Int { Int(policy.core.pointee.steps_most) }

  /// The bytes of memory the policy holds, for tests.
  package var policyBytes: Int { Int(lrd_cache_statistics(core).policy_bytes) }

  /// The core itself, for tests that look into it.
  package func withCore<Result>(_ body: (OpaquePointer) -> Result) -> Result { body(core) }

  /// Recomputes every invariant of the core, and stops the process if one is broken. For tests.
  package func checkInvariants() { lrd_cache_check(core) }
}
