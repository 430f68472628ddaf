// SPDX-License-Identifier: Apache-2.0
import CLarder

/// The optional features of a cache, as asked for when it was created.
///
/// A cache without any has no `Extras`. It then pays one branch for an insertion, and nothing for a
/// lookup.
@usableFromInline final class Extras<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  typealias Owner = Cache<Key, Value>

  /// Where the cache was created.
  let place: Place
  let onInsertion: Owner.InsertionObserver?
  let cost: Owner.CostFunction?
  let lifetime: (@Sendable (Key, Value) -> Duration?)?
  let shouldEvict: (@Sendable (Key, Value) -> Bool)?
  let watermarks: Watermarks?
  let releaser: Releaser<Value>?
  let evictions: EvictionMemory?
  let ages: AgeCounter?
  let groups: GroupIndex<Key>?
  let secondChance: SecondChance<Key, Value>?
  let refresh: RefreshRule?
  let chance: (@Sendable () -> Double)?

  /// `nil` if nothing is asked for.
  init?(
    cost: Owner.CostFunction?, options: Owner.Options, for place: Place
  ) {
    self.place = place
    onInsertion = options.onInsertion
    self.cost = cost
    lifetime = options.lifetime
    shouldEvict = options.shouldEvict
    watermarks = Watermarks(
      count: options.preferredCount, cost: options.preferredTotalCost, for: place)
    releaser = options.release.map(Releaser.init)
    evictions = EvictionMemory(capacity: options.rememberedEvictions, for: place)
    ages = options.remembersAge ? AgeCounter() : nil
    groups = options.groups?.makeIndex()
    let chances = options.secondChanceCount
    require(
      chances >= 0, "secondChances must not be negative", file: place.file, line: place.line)
    require(
      UInt64(clamping: chances) <= 1 << 31, "secondChances must not be above 2^31",
      file: place.file, line: place.line)
    secondChance = options.makeSecondChance?(releaser)
    chance = options.refreshing?.chance
    refresh = options.refreshing.map {
      RefreshRule($0, after: EntryLayout<Key, Value>.size(withAge: options.remembersAge))
    }
    let isOnlyACache =
      onInsertion == nil && cost == nil && lifetime == nil && shouldEvict == nil
      && watermarks == nil && releaser == nil && ages == nil && refresh == nil
      && !watchesRemovals
    if isOnlyACache { return nil }
  }

  /// Whether any feature needs to know of entries that leave.
  var watchesRemovals: Bool { evictions != nil || groups != nil || secondChance != nil }

  /// Notes an entry that has left. No lock is held.
  func didLeave(
    _ key: Key, _ hash: UInt64, _ value: Value, _ cost: Int, _ timing: lrd_timing,
    _ cause: RemovalCause, since moment: UInt64
  ) {
    groups?.didLeave(key)
    guard cause == .limit || cause == .trimmed || cause == .pressure else { return }
    evictions?.remember(hash)
    secondChance?.keep(value, key, hash, cost: cost, timing: timing, since: moment)
  }
}
