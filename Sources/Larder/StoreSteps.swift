// SPDX-License-Identifier: Apache-2.0
import CLarder

/// What is done around storing one value, by the long way: for the optional features of a cache,
/// and for changes that look at the old value once more before they store.
@usableFromInline struct StoreSteps {
  /// A moment from before the change; see `SecondChance`.
  @usableFromInline let moment: UInt64
  let ages: AgeCounter?
  let refresh: RefreshRule?
  /// The nanoseconds that it took to load the value; 0 if it was not loaded.
  let loadTime: UInt64
  /// Whether the entry is lent to the thread that stores it, so that it can show the value to the
  /// observer.
  ///
  /// A copy would do as well if values were not released elsewhere. But a copy could become the
  /// last reference, and would then have to be released through ``Cache/Options/release`` too, and
  /// waited for there.
  let lends: Bool
  /// Whether to store the value after all in place of `old`. `nil` if it is stored in any case.
  /// Runs under the shard's lock.
  let isWanted: ((_ old: UnsafeMutablePointer<lrd_entry>?) -> Bool)?
  /// Whether `isWanted` said no.
  fileprivate(set) var gaveUp = false
  /// Whether the storing outdates the flight of its key; see `Flights`.
  let outdates: Bool
  /// The entry, and the lane that has it on loan, from its publication to ``Cache/endLending(_:)``.
  /// Whatever becomes of the entry meanwhile, its value is there.
  fileprivate(set) var lent: (entry: UnsafeMutablePointer<lrd_entry>, lane: OpaquePointer)?

  init(
    moment: UInt64, ages: AgeCounter?, refresh: RefreshRule?, loadTime: UInt64 = 0, lends: Bool,
    outdates: Bool = true,
    isWanted: ((UnsafeMutablePointer<lrd_entry>?) -> Bool)? = nil
  ) {
    self.moment = moment
    self.ages = ages
    self.refresh = refresh
    self.loadTime = loadTime
    self.lends = lends
    self.isWanted = isWanted
    self.outdates = outdates
  }

  /// Ends the loan, which must be the thread's latest.
  @usableFromInline mutating func endLoan() {
    guard let (_, lane) = lent.take() else { return }
    lrd_loan_unpin(lane)
    lrd_loan_end(lane)
  }
}

extension Cache {
  /// Whether the calling thread has a loan left.
  var canLend: Bool {
    guard let lane = lrd_lane_attach(core) else { return false }
    return lrd_loans_left(lane) > 0
  }

  /// Prepares an entry that is about to be published, in place of `old` if there is one. Returns
  /// false if it should not be. The shard's lock is held, so whoever unlinks the entry does so when
  /// its loan is visible.
  @usableFromInline @inline(never)
  func prepareLocked(
    _ entry: UnsafeMutablePointer<lrd_entry>, _ old: UnsafeMutablePointer<lrd_entry>?,
    _ shard: OpaquePointer, _ lane: OpaquePointer?, _ steps: UnsafeMutablePointer<StoreSteps>
  ) -> Bool {
    let living = old.flatMap { lrd_entry_is_expired_locked(shard, $0) ? nil : $0 }
    if let isWanted = steps.pointee.isWanted, !isWanted(living) {
      steps.pointee.gaveUp = true
      return false
    }
    if let ages = steps.pointee.ages {
      entry.age(of: Layout.self).initialize(to: ages.next())
    }
    steps.pointee.refresh?.open(entry, core, loadTime: steps.pointee.loadTime)
    if steps.pointee.lends, steps.pointee.lent == nil, let lane,
      lrd_lend_locked(lane, shard, entry)
    {
      steps.pointee.lent = (entry, lane)
    }
    return true
  }

  /// Ends the loan of a stored entry.
  func endLending(_ steps: inout StoreSteps) {
    guard let (entry, lane) = steps.lent else { return }
    let hash48 = lrd_entry_hash48(entry)
    steps.endLoan()
    lookAfter(entry, hash48, lane)
  }

  /// Follows up on a loan during which user code ran. If the entry was removed meanwhile, the
  /// removal left it in limbo because of the loan. A thread that is alone destroys it now, as it
  /// would have done then. Among several threads it waits like everything that readers held.
  ///
  /// The entry may be gone, so this function does not touch it. If its slot has been used again for
  /// the same upper hash bits, then the entry was destroyed, and nothing is left to do.
  func lookAfter(_ entry: StoredEntry, _ hash48: UInt64, _ lane: OpaquePointer?) {
    guard lrd_thread_is_solitary() else { return }
    let shard = lrd_cache_shard(core, hash48)
    lrd_shard_enter(core, lane, shard)
    let isStored = lrd_shard_holds_locked(shard, entry, hash48)
    lrd_shard_leave(core, shard)
    if isStored { return }
    var garbage = lrd_garbage()
    lrd_garbage_reclaim(core, &garbage)
    finish(&garbage, lane)
  }
}
