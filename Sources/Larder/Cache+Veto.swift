// SPDX-License-Identifier: Apache-2.0
import CLarder

/// Entries that are asked about for one insertion at most.
private let questionsMost = 8

extension Cache {
  /// Makes room for an insertion of a new key, by evicting what `shouldEvict` agrees to among the
  /// coldest entries. Each is asked about once. What is refused counts as used, so that others are
  /// asked about next time.
  func makeRoom(
    for key: Key, _ cost: Int, asking shouldEvict: @Sendable (Key, Value) -> Bool
  ) {
    if hasRoom(cost: cost) || contains(key) { return }
    var batch: ReleaseBatch<Value>?
    defer { if let batch { powers?.releaser?.hand(batch) } }
    var candidates = coldestByName(questionsMost)
    candidates.reverse()
    while let (name, value) = candidates.popLast() {
      let agreed = !hasRoom(cost: cost) && shouldEvict(name.key, value)
      let refused = !agreed && !hasRoom(cost: cost)
      // The copy may be the last reference.
      powers?.releaser?.add(consume value, to: &batch)
      let shard = lrd_cache_shard(core, name.place)
      if agreed {
        evict(shard, LRD_REMOVED_LIMIT) { findStillLocked(name, $0) }
      } else if refused {
        lrd_change_begin(core, lrd_lane_attach(core), shard)
        if let entry = findStillLocked(name, shard) { lrd_note_locked(core, nil, shard, entry) }
        lrd_change_cancel(core, shard)
      }
    }
  }

  private func coldestByName(_ n: Int) -> [(EntryName, Value)] {
    let parts = (0..<shardCount).map { shard in
      copyShard(shard, atMost: n, hottestFirst: false) { entry in
        (
          EntryName(
            entry: entry, place: lrd_entry_place(entry), key: entry.key(of: Layout.self).pointee),
          entry.value(of: Layout.self).pointee
        )
      }
    }
    return Self.inTurn(parts, atMost: n)
  }

  /// The entry of that name if it was not replaced; the shard's lock is held.
  private func findStillLocked(_ name: EntryName, _ shard: OpaquePointer) -> StoredEntry? {
    guard lrd_shard_holds_locked(shard, name.entry, name.place),
      name.entry.key(of: Layout.self).pointee == name.key
    else { return nil }
    return name.entry
  }
}
