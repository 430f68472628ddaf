// SPDX-License-Identifier: Apache-2.0

extension Cache {
  /// Removes all entries of one of the cache's ``Options/groups``.
  ///
  /// The call removes every entry whose insertion had returned when the call began. The observer
  /// receives ``RemovalCause/removed``.
  ///
  /// An integer names groups that are numbers of any type, and a string or substring those that are
  /// either. A value of any other type than that of the groups is a mistake, an optional one of it
  /// too, and so is the call on a cache without groups: it traps, since nothing would be removed.
  ///
  /// - Parameters:
  ///   - group: The group.
  ///   - file: The file of the call, for the message of a trap.
  ///   - line: The line of the call, for the message of a trap.
  /// - Complexity: O(*m*) for the *m* entries of the group, plus O(1) for each of
  ///   ``Options/secondChances``, all of which are forgotten, and for each load of the cache that
  ///   is under way or whose failure or absence is remembered: the group of its key is asked for.
  ///   Locks one shard for each entry.
  public func removeAll(
    inGroup group: some Hashable & Sendable, file: StaticString = #fileID, line: UInt = #line
  ) {
    let groups = groups(for: group, file, line)
    outdateFlights(inGroup: group)
    // Before the keys are listed, so that they include what is found and stored again until then.
    extras?.secondChance?.willWriteAll()
    defer { extras?.secondChance?.didWriteAll() }
    for key in groups.keys(in: group) { remove(key, into: nil) }
  }

  /// The number of entries in one of the cache's ``Options/groups``.
  ///
  /// Insertions and removals that have not returned yet may or may not be counted.
  ///
  /// - Parameters:
  ///   - group: The group, of the types that ``removeAll(inGroup:file:line:)`` takes.
  ///   - file: The file of the call, for the message of a trap.
  ///   - line: The line of the call, for the message of a trap.
  /// - Complexity: O(1).
  public func count(
    inGroup group: some Hashable & Sendable, file: StaticString = #fileID, line: UInt = #line
  ) -> Int {
    groups(for: group, file, line).count(in: group)
  }

  /// The groups, of which `name` is to name one.
  private func groups<Name: Hashable & Sendable>(
    for name: Name, _ file: StaticString, _ line: UInt
  ) -> GroupIndex<Key> {
    guard let groups = extras?.groups else {
      fatalError("the cache has no groups", file: file, line: line)
    }
    if groups.canName(name, Name.self) { return groups }
    fatalError(
      "the cache's groups are \(groups.groupType), not \(Name.self)", file: file, line: line)
  }

  /// The number of groups that have entries, for tests.
  package var groupCount: Int { extras?.groups?.groupCount ?? 0 }
}
