// SPDX-License-Identifier: Apache-2.0
import CLarder

extension EvictionPolicy {
  private static let mostShards = 16
  /// Below 128 entries a shard misses 1 % more or worse, because shares are no longer alike.
  private static let entriesPerShard = 512

  /// The number of shards for a cache whose owner names none: a power of two.
  ///
  /// Writers meet in a shard's lock, so twice as many shards as processors keep them apart most of
  /// the time. Without a count limit nothing tells how many entries there will be, and a small cache
  /// in many shards would be worse off than a large one in a single shard.
  func shards(countLimit: Int) -> Int {
    guard self == .adaptive else { return 1 }
    let wanted = min(Self.mostShards, 2 * Int(lrd_processors()), countLimit / Self.entriesPerShard)
    var shards = 1
    while shards * 2 <= wanted { shards *= 2 }
    return shards
  }
}
