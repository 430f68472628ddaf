// SPDX-License-Identifier: Apache-2.0
import CLarder

/// The most entries to ask about for one insertion.
private let questionsMost = 8

extension Cache {
  /// Makes room for a new entry by evicting those of the coldest entries to which `shouldEvict`
  /// agrees. Asks about each entry once, and not about what has expired, which goes. A refusal
  /// counts as a use of the entry, so that the next insertion asks about others.
  func makeRoom(_ cost: Int, asking shouldEvict: @Sendable (Key, Value) -> Bool) {
    func judge(_ key: Key, _ value: Value) -> Verdict {
      if shouldEvict(key, value) { return .remove(LRD_REMOVED_LIMIT) }
      return hasRoom(cost: cost) ? .keep : .touch
    }
    for name in coldestNames(questionsMost) {
      if hasRoom(cost: cost) { return }
      let shard = lrd_cache_shard(core, name.hash48)
      if removeExpired(name, shard) { continue }
      ask(judge, in: shard) { findStillLocked(name, $0) }
    }
  }

  /// Removes an entry if it has expired: just now, or it is kept for longer, for loads that fail.
  private func removeExpired(_ name: EntryName, _ shard: OpaquePointer) -> Bool {
    guard lrd_cache_is_timed(core) else { return false }
    return removeEntry(in: shard, because: LRD_REMOVED_EXPIRED) { shard in
      guard let entry = findStillLocked(name, shard),
        lrd_entry_is_expired_locked(shard, entry)
      else { return nil }
      return entry
    }
  }

  /// The names of the coldest entries. It copies no values, because some of what several shards
  /// list is surplus.
  private func coldestNames(_ n: Int) -> [EntryName] {
    var surplus: [EntryName] = []
    let parts = (0..<shardCount).map { shard in
      copyShard(
        shard, atMost: n, hottestFirst: false, expired: true, key: { $0.key }, surplus: &surplus
      ) {
        EntryName(of: $0)
      }
    }
    return Self.inTurn(parts, atMost: n)
  }
}
