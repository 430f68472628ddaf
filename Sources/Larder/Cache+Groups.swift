// SPDX-License-Identifier: Apache-2.0

extension Cache {
  /// Removes all entries of one of the cache's ``Options/groups``.
  ///
  /// The call removes every entry whose insertion had returned when the call began. The observer
  /// receives ``RemovalCause/removed``. The cache must have been created with groups of this type;
  /// the call traps otherwise.
  ///
  /// - Complexity: O(*m*) for the *m* entries of the group, whatever else is stored. Locks one
  ///   shard for each entry.
  public func removeAll(inGroup group: some Hashable & Sendable) {
    // Before the keys are listed, so that they include what is found and stored again until then.
    extras?.secondChance?.willWriteAll()
    defer { extras?.secondChance?.didWriteAll() }
    guard let keys = extras?.groups?.keys(in: group) else {
      stop("the cache was not created with groups of this type")
    }
    for key in keys { remove(key, into: nil) }
  }

  /// The number of entries in one of the cache's ``Options/groups``.
  ///
  /// Insertions and removals that have not returned yet may or may not be counted. The cache must
  /// have been created with groups of this type; the call traps otherwise.
  ///
  /// - Complexity: O(1).
  public func count(inGroup group: some Hashable & Sendable) -> Int {
    guard let count = extras?.groups?.count(in: group) else {
      stop("the cache was not created with groups of this type")
    }
    return count
  }

  /// The number of groups that have entries, for tests.
  package var groupCount: Int { extras?.groups?.groupCount ?? 0 }
}
