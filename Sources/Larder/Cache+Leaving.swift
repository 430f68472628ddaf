// SPDX-License-Identifier: Apache-2.0
public import CLarder

/// What becomes of values that leave the cache or do not get in. No lock is held.
extension Cache {
  /// Gives up a value for which there is no memory.
  @usableFromInline @inline(never)
  func refuse(_ value: consuming Value) {
    if let releaser = extras?.releaser { releaser.release(consume value) }
  }

  /// Destroys an entry that was never published.
  @usableFromInline @inline(never)
  func discard(
    _ entry: UnsafeMutablePointer<lrd_entry>, _ lane: OpaquePointer?
  ) {
    guard let releaser = extras?.releaser else { return destroyPair(entry, lane) }
    releaser.release(entry.value(of: Layout.self).move())
    entry.key(of: Layout.self).deinitialize(count: 1)
    lrd_slot_give(core, lane, entry)
  }

  /// Gives up a copy that may be the last reference.
  @usableFromInline @inline(never)
  func drop(_ copy: UnsafeMutablePointer<Value?>) {
    let value = copy.move()
    copy.initialize(to: nil)
    if let value, let releaser = extras?.releaser { releaser.release(consume value) }
  }

  /// Shows the removed entries to the observer, puts them in limbo, and destroys what is due. No
  /// lock is held. If the change may have evicted entries, `moment` is from before it; see
  /// `SecondChance`.
  @inlinable
  func finish(_ garbage: inout lrd_garbage, _ lane: OpaquePointer?, since moment: UInt64 = 0) {
    if garbage.removed.head != nil { report(&garbage, lane, since: moment) }
    if extras != nil { handOver(&garbage, lane) }
    while let entry = lrd_garbage_next(core, lane, &garbage) { destroyPair(entry, lane) }
  }

  /// Destroys the entry freed by an insertion that went the short way.
  @inlinable
  func destroy(_ entry: UnsafeMutablePointer<lrd_entry>, _ lane: OpaquePointer) {
    destroyPair(entry, lane)
    if !lrd_garbage_end(lane) { destroyLeftOver(lane) }
  }

  /// Destroys the value and the key of an entry, and gives its slot back.
  @inlinable @inline(__always)
  func destroyPair(_ entry: UnsafeMutablePointer<lrd_entry>, _ lane: OpaquePointer?) {
    entry.value(of: Layout.self).deinitialize(count: 1)
    entry.key(of: Layout.self).deinitialize(count: 1)
    lrd_slot_give(core, lane, entry)
  }

  /// Destroys what inner calls have left.
  @usableFromInline @inline(never)
  func destroyLeftOver(_ lane: OpaquePointer) {
    var garbage = lrd_garbage_resume()
    finish(&garbage, lane)
  }

  @usableFromInline @inline(never)
  func report(_ garbage: inout lrd_garbage, _ lane: OpaquePointer?, since moment: UInt64) {
    show(garbage.removed.head, since: moment)
    lrd_garbage_retire(core, &garbage)
  }

  /// Shows a chain of removed entries to the features that care, and to the observers.
  func show(_ first: UnsafeMutablePointer<lrd_entry>?, since moment: UInt64) {
    var next = first
    let others = added.load()?.all ?? []
    while let entry = next {
      let key = entry.key(of: Layout.self)
      let value = entry.value(of: Layout.self)
      let cost = Int(clamping: lrd_entry_cost(entry))
      let cause = RemovalCause(state: lrd_entry_get_state(entry))
      if let extras, extras.watchesRemovals {
        extras.didLeave(
          key.pointee, hasher.hash(key.pointee), value.pointee, cost,
          lrd_entry_timing(core, entry), cause, since: moment)
      }
      observer?(key.pointee, value.pointee, cost, cause)
      for other in others { other.observer(self, key.pointee, value.pointee, cost, cause) }
      next = lrd_garbage_after(core, entry)
    }
  }
}
