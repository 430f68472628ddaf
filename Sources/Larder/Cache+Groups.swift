// SPDX-License-Identifier: Apache-2.0

extension Cache {
  /// Removes all entries of one of the cache's ``Options/groups``.
  ///
  /// The call removes every entry whose insertion had returned when the call began. The observer
  /// receives ``RemovalCause/removed``. A cache without groups, or with groups of a type that has
  /// no value equal to `group`, has no such entries. Integers are equal whatever their type.
  ///
  /// - Complexity: O(*m*) for the *m* entries of the group, whatever else is stored. Locks one
  ///   shard for each entry.
  public func removeAll(inGroup group: some Hashable & Sendable) {
    outdateFlights(inGroup: group)
    // Before the keys are listed, so that they include what is found and stored again until then.
    extras?.secondChance?.willWriteAll()
    defer { extras?.secondChance?.didWriteAll() }
    for key in extras?.groups?.keys(in: group) ?? [] { remove(key, into: nil) }
  }

  /// The number of entries in one of the cache's ``Options/groups``.
  ///
  /// Insertions and removals that have not returned yet may or may not be counted. A cache without
  /// groups has none; for types see ``removeAll(inGroup:)``.
  ///
  /// - Complexity: O(1).
  public func count(inGroup group: some Hashable & Sendable) -> Int {
    extras?.groups?.count(in: group) ?? 0
  }

  /// The number of groups that have entries, for tests.
  package var groupCount: Int { extras?.groups?.groupCount ?? 0 }
}
