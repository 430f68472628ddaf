// SPDX-License-Identifier: Apache-2.0

extension Cache {
  /// Removes all entries of a group of ``Options/groups``: all whose insertion had returned when
  /// the call began. The observer is told ``RemovalCause/removed``.
  ///
  /// The cache must have been created with groups of this type.
  ///
  /// - Complexity: O(*m*) for *m* entries in the group, whatever else is stored. Locks one shard
  ///   for each.
  public func removeAll(inGroup group: some Hashable & Sendable) {
    // Before the keys are listed: what is found and stored again until then is among them.
    extras?.secondChance?.willWriteAll()
    defer { extras?.secondChance?.didWriteAll() }
    guard let keys = extras?.groups?.keys(in: group) else {
      stop("the cache must have groups of this type")
    }
    for key in keys { remove(key, into: nil) }
  }

  /// The number of entries in a group of ``Options/groups``. Insertions and removals that have not
  /// returned may be counted or not.
  ///
  /// The cache must have been created with groups of this type.
  ///
  /// - Complexity: O(1).
  public func count(inGroup group: some Hashable & Sendable) -> Int {
    guard let count = extras?.groups?.count(in: group) else {
      stop("the cache must have groups of this type")
    }
    return count
  }

  /// Groups with entries, for tests.
  package var groupCount: Int { extras?.groups?.groupCount ?? 0 }
}
