// SPDX-License-Identifier: Apache-2.0

/// How the keys of a cache form groups, and how many entries a group may have. A key has one group.
///
///     let images = Cache<ImageKey, Image>(
///       countLimit: 2_000,
///       options: .init(groups: .by({ $0.kind }, quota: { $0 == .profile ? 50 : 1_000 })))
///     images.removeAll(inGroup: ImageKey.Kind.profile)
///
/// **Order.** If a group has more entries than its quota, those stored longest ago are evicted
/// first. A replacement counts as newly stored; a hit does not count. (The policy's order is that
/// of the whole cache, which knows no groups.) The observer receives ``RemovalCause/limit``. An
/// insertion into a full cache first evicts what the policy names, so a new key of a full group may
/// evict two entries. A key that does not equal itself belongs to no group.
///
/// **Strictness.** When a call that stores a value returns, its group is within its quota, except
/// for the insertions of other threads that have not returned yet. The cache's own limits always
/// hold.
///
/// **Keys and groups** are hashed and compared under a lock of the index. So neither `==` nor
/// `hash(into:)` of either may use the cache.
///
/// **Cost.** All groups share one lock. Every removal takes it once and every insertion twice, and
/// once more for a group with a quota, or more often where entries expire; for O(1) steps each.
/// Listing a group of *m* entries for `removeAll(inGroup:)` holds it for O(*m*). Memory: about
/// three times the size of a key for each entry stored. A group without entries takes none.
public struct KeyGroups<Key: Hashable & Sendable>: Sendable {
  let makeIndex: @Sendable () -> GroupIndex<Key>

  /// Forms groups by a function of the key. The function must be pure and should be quick. It is
  /// called without a lock for each insertion and removal.
  ///
  /// - Parameters:
  ///   - group: Returns the group of a key.
  ///   - quota: Returns the most entries a group may have; 0 for no limit. Must not return a
  ///     negative number. Called without a lock for each insertion.
  ///   - file: The file of the call, for the message of a trap.
  ///   - line: The line of the call, for the message of a trap.
  public static func by<Group: Hashable & Sendable>(
    _ group: @escaping @Sendable (Key) -> Group,
    quota: @escaping @Sendable (Group) -> Int = { _ in 0 },
    file: StaticString = #fileID, line: UInt = #line
  ) -> KeyGroups {
    let place = Place(file: file, line: line)
    return KeyGroups { TypedGroupIndex(group: group, quota: quota, place: place) }
  }
}

private protocol AnyOptional {}
extension Optional: AnyOptional {}

/// Which entries of a cache belong to which group, for one type of group.
class GroupIndex<Key: Hashable & Sendable>: @unchecked Sendable {
  // Sendable: the only subclass is.

  /// Notes that a value will be stored. Until it is, or is not, `keys(in:)` includes the key.
  func willStore(_ key: Key) {}
  func didNotStore(_ key: Key) {}
  /// Notes that a value was stored.
  func stored(_ key: Key) {}
  /// The next key to evict from the group of `key`, if that has too many entries.
  func overflow(in key: Key) -> Key? { nil }
  /// Whether the group of `key` has as many entries as its quota allows.
  func isFull(_ key: Key) -> Bool { false }
  /// Notes that an entry has left.
  func didLeave(_ key: Key) {}
  /// The type of the groups.
  var groupType: Any.Type { Never.self }
  /// Whether `name`, of this type, can be equal to a group.
  func canName(_ name: Any, _ type: Any.Type) -> Bool { false }
  /// The keys of a group.
  func keys(in group: Any) -> [Key] { [] }
  /// Tells of a key whether it belongs to a group, which is looked at once, however many keys.
  func membership(in group: Any) -> (Key) -> Bool { { _ in false } }
  /// The number of entries in a group.
  func count(in group: Any) -> Int { 0 }
  /// The number of groups that have entries, for tests.
  var groupCount: Int { 0 }
}

/// The index. Calls report to it after the core has acted, so reports may arrive in another order:
/// the eviction of a key may be reported before its insertion. Each key therefore has a balance of
/// insertions and removals, which comes out right in any order.
final class TypedGroupIndex<Key: Hashable & Sendable, Group: Hashable & Sendable>: GroupIndex<Key>,
  @unchecked Sendable
{
  private let group: @Sendable (Key) -> Group
  private let quota: @Sendable (Group) -> Int
  private let place: Place
  private let groups = Guarded<[Group: GroupMembers<Key>]>([:])

  init(
    group: @escaping @Sendable (Key) -> Group, quota: @escaping @Sendable (Group) -> Int,
    place: Place
  ) {
    self.place = place
    self.group = group
    self.quota = quota
  }

  override func willStore(_ key: Key) {
    let group = group(key)
    if Self.canFind(key, group) {
      change(group) {
        $0.expect(key)
        return []
      }
    }
  }

  override func didNotStore(_ key: Key) {
    let group = group(key)
    if Self.canFind(key, group) { change(group) { $0.giveUp(key) } }
  }

  override func stored(_ key: Key) {
    let group = group(key)
    if Self.canFind(key, group) { change(group) { $0.add(key) } }
  }

  override func overflow(in key: Key) -> Key? { overflow(in: group(key)) }

  private func overflow(in group: Group) -> Key? {
    let quota = quota(group)
    require(quota >= 0, "quota must not be negative", file: place.file, line: place.line)
    if quota == 0 { return nil }
    let (key, garbage) = groups.withLock { groups in
      guard let index = groups.index(forKey: group) else { return (Key?.none, [Key?]()) }
      return groups.values[index].takeOldest(above: quota)
    }
    withExtendedLifetime(garbage) {}
    return key
  }

  override func isFull(_ key: Key) -> Bool {
    let group = group(key)
    let quota = quota(group)
    return quota > 0 && groups.withLock { $0[group]?.count ?? 0 } >= quota
  }

  override func didLeave(_ key: Key) {
    let group = group(key)
    if Self.canFind(key, group) { change(group) { $0.remove(key) } }
  }

  /// A key or group that does not equal itself would be added again and again, so it has no group.
  private static func canFind(_ key: Key, _ group: Group) -> Bool { key == key && group == group }

  override var groupType: Any.Type { Group.self }

  override func canName(_ name: Any, _ type: Any.Type) -> Bool {
    if type == Group.self { return true }
    // Else the first `nil` would be the first to trap.
    if type is any AnyOptional.Type { return false }
    if name is Group { return true }
    if name is any BinaryInteger { return Group.self is any Numeric.Type }
    return name is any StringProtocol && Group.self is any StringProtocol.Type
  }

  /// The group that a caller names; `nil` if no value of its type is equal. Where the type of the
  /// groups is not known, an integer literal is an `Int`, and a string literal a `String`.
  private static func group(_ name: Any) -> Group? {
    if let group = name as? Group { return group }
    if let number = name as? any BinaryInteger, let type = Group.self as? any Numeric.Type {
      return exactly(number, type) as? Group
    }
    guard let text = name as? any StringProtocol else { return nil }
    return (String(text) as? Group) ?? (Substring(text) as? Group)
  }

  private static func exactly<Number: Numeric>(
    _ number: any BinaryInteger, _ type: Number.Type
  ) -> Any? {
    func convert(_ number: some BinaryInteger) -> Number? { Number(exactly: number) }
    return convert(number)
  }

  override func membership(in group: Any) -> (Key) -> Bool {
    guard let group = Self.group(group) else { return { _ in false } }
    return { self.group($0) == group }
  }

  override func keys(in group: Any) -> [Key] {
    guard let group = Self.group(group) else { return [] }
    return groups.withLock { $0[group]?.keys ?? [] }
  }

  override func count(in group: Any) -> Int {
    guard let group = Self.group(group) else { return 0 }
    return groups.withLock { $0[group]?.count ?? 0 }
  }

  override var groupCount: Int { groups.withLock { $0.count } }

  /// Changes a group's members, and removes a group that has none left.
  private func change(_ group: Group, _ body: (inout GroupMembers<Key>) -> [Key?]) {
    let garbage = groups.withLock { groups in
      let garbage = body(&groups[group, default: GroupMembers()])
      guard let index = groups.index(forKey: group), groups.values[index].isEmpty else {
        return (garbage, (Group, GroupMembers<Key>)?.none)
      }
      let emptied = groups.remove(at: index)
      return (garbage, (emptied.key, emptied.value))
    }
    withExtendedLifetime(garbage) {}
  }
}
