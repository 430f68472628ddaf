// SPDX-License-Identifier: Apache-2.0
import CLarder

/// What a cache with extras does around the storage of one value, beside storing it.
@usableFromInline struct Storage {
  /// From before the change: see `SecondChance`.
  @usableFromInline let moment: UInt64
  let ages: AgeCounter?
  /// Whether the entry is to be lent to the thread that stores it, to show its value to the
  /// observer.
  ///
  /// A copy would do as well, but for two things: where values are released elsewhere it might be
  /// the last reference, so it had to be handed on like a value that left the cache, and waited for
  /// as one.
  let lends: Bool
  /// The entry and the lane that has it on loan, from its publication to ``Cache/endLending(_:)``:
  /// whatever becomes of the entry meanwhile, its value is there.
  fileprivate(set) var lent: (entry: UnsafeMutablePointer<lrd_entry>, lane: OpaquePointer)?

  init(moment: UInt64, ages: AgeCounter?, lends: Bool) {
    self.moment = moment
    self.ages = ages
    self.lends = lends
  }

  /// Ends the loan, which must be the thread's latest.
  @usableFromInline mutating func endLoan() {
    guard let (_, lane) = lent.take() else { return }
    lrd_loan_close(lane)
    lrd_loan_end(lane)
  }
}

extension Cache {
  /// Whether the calling thread has a loan left.
  var canLend: Bool {
    guard let lane = lrd_lane_attach(core) else { return false }
    return lrd_loans_left(lane) > 0
  }

  /// Does what is wanted with an entry that is about to be published. The shard's lock is held, so
  /// whoever unlinks the entry does so after its loan can be seen.
  @usableFromInline @inline(never)
  func prepareLocked(
    _ entry: UnsafeMutablePointer<lrd_entry>, _ shard: OpaquePointer, _ lane: OpaquePointer?,
    _ storage: UnsafeMutablePointer<Storage>
  ) {
    if let ages = storage.pointee.ages {
      entry.age(of: Layout.self).initialize(to: ages.next())
    }
    guard storage.pointee.lends, storage.pointee.lent == nil, let lane else { return }
    if lrd_lend_locked(lane, shard, entry) { storage.pointee.lent = (entry, lane) }
  }

  /// Ends the loan of a stored entry.
  func endLending(_ storage: inout Storage) {
    guard let (entry, lane) = storage.lent else { return }
    let place = lrd_entry_place(entry)
    storage.endLoan()
    lookAfter(entry, place, lane)
  }

  /// What follows a loan during which code of users ran. If the entry was removed meanwhile, its
  /// removal has left it behind because of the loan: a thread that is alone destroys it now, as it
  /// would have then; among others it is looked after like all that readers held.
  ///
  /// The entry is not touched, as it may be gone. Should its slot have been used again for the same
  /// place, then it was destroyed, and nothing is left to do.
  func lookAfter(_ entry: StoredEntry, _ place: UInt64, _ lane: OpaquePointer?) {
    guard lrd_thread_is_solitary() else { return }
    let shard = lrd_cache_shard(core, place)
    lrd_shard_enter(core, lane, shard)
    let isStored = lrd_shard_holds_locked(shard, entry, place)
    lrd_shard_leave(core, shard)
    if isStored { return }
    var garbage = lrd_garbage()
    lrd_garbage_reclaim(core, &garbage)
    finish(&garbage, lane)
  }
}
