// SPDX-License-Identifier: Apache-2.0

/// What a cache does beyond keeping values, as asked for at its creation.
///
/// A cache without any of it has no `Extras`; then an insertion pays one branch, a lookup nothing.
@usableFromInline final class Extras<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  typealias Owner = Cache<Key, Value>

  let onInsertion: Owner.InsertionObserver?
  let cost: Owner.CostFunction?
  let shouldEvict: (@Sendable (Key, Value) -> Bool)?
  let watermarks: Watermarks?
  let releaser: Releaser<Value>?
  let evictions: EvictionMemory?
  let ages: AgeCounter?
  let groups: GroupIndex<Key>?
  let secondChance: SecondChance<Key, Value>?

  /// `nil` where nothing is asked for.
  init?(
    onInsertion: Owner.InsertionObserver?, cost: Owner.CostFunction?, options: Owner.Options
  ) {
    self.onInsertion = onInsertion
    self.cost = cost
    shouldEvict = options.shouldEvict
    watermarks = Watermarks(count: options.preferredCount, cost: options.preferredTotalCost)
    releaser = options.release.map(Releaser.init)
    evictions = EvictionMemory(capacity: options.rememberedEvictions)
    ages = options.remembersAge ? AgeCounter() : nil
    groups = options.groups?.makeIndex()
    secondChance = options.makeSecondChance?(releaser)
    let isOnlyACache =
      onInsertion == nil && cost == nil && shouldEvict == nil && watermarks == nil
      && releaser == nil && ages == nil && !watchesRemovals
    if isOnlyACache { return nil }
  }

  /// Whether entries that leave are of interest.
  var watchesRemovals: Bool { evictions != nil || groups != nil || secondChance != nil }

  /// Notes an entry that has left; no lock is held.
  func didLeave(
    _ key: Key, _ hash: UInt64, _ value: Value, _ cost: Int, _ cause: RemovalCause,
    since moment: UInt64
  ) {
    groups?.didLeave(key)
    guard cause == .limit || cause == .trimmed else { return }
    evictions?.remember(hash)
    secondChance?.keep(value, key, hash, cost: cost, since: moment)
  }
}
