// SPDX-License-Identifier: Apache-2.0

/// How a full cache chooses the entry it gives up.
///
/// A policy is chosen when the cache is created and costs nothing where it is not chosen.
public enum EvictionPolicy: Sendable, Hashable {
  /// Least recently used, in exact order.
  ///
  /// The entry that was not used for longest goes first; insertion, replacement and every hit count
  /// as use. A cache used by one thread, with one shard, keeps this order exactly. With several
  /// threads, each notes its hits in batches of 64, so the order may lag behind by as many hits of
  /// every other thread; with several shards each shard keeps an order of its own.
  ///
  /// Peter J. Denning, "The Working Set Model for Program Behavior", CACM 11(5), 1968; the batches
  /// follow Ding, Jiang and Zhang, "BP-Wrapper", ICDE 2009.
  case lru

  /// The policy a cache has when none is named: ``lru``.
  public static let `default` = EvictionPolicy.lru
}
