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
    func judge(_ key: Key, _ value: Value) -> Verdict {
      if shouldEvict(key, value) { return .remove(LRD_REMOVED_LIMIT) }
      return hasRoom(cost: cost) ? .keep : .touch
    }
    for name in coldestNames(questionsMost) {
      if hasRoom(cost: cost) { return }
      ask(judge, in: lrd_cache_shard(core, name.place)) { findStillLocked(name, $0) }
    }
  }

  /// The names of the coldest entries. Names only: of what several shards list some is surplus.
  private func coldestNames(_ n: Int) -> [EntryName] {
    let parts = (0..<shardCount).map { shard in
      copyShard(shard, atMost: n, hottestFirst: false) { EntryName(of: $0) }
    }
    return Self.inTurn(parts, atMost: n)
  }
}
