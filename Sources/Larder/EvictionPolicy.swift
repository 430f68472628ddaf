// SPDX-License-Identifier: Apache-2.0

/// How a full cache chooses the entry it gives up.
///
/// A policy is chosen when the cache is created and costs nothing where it is not chosen.
/// <doc:ChoosingAPolicy> helps to choose. The new entry is never the victim of its own insertion,
/// and insertions take bounded time with every policy.
///
/// Where cost is wanted, and the order does not go by cost, an entry of cost 0 whose turn it is goes
/// behind others, as if it were just stored or used. That happens up to sixteen times in one
/// eviction, which then looks at up to seventeen times as many entries as told below.
///
/// Where hits matter to a policy it learns of them in one of two ways. Either a hit counts in a
/// byte of the entry, up to a small number, and stores nothing else. Or each thread notes its hits
/// in batches of 64: a cache used by one thread, with one shard, then keeps the exact order of the
/// policy; with several threads the order may lag behind by as many hits of every other thread.
/// With several shards, each shard has an order of its own.
///
/// The raw value is the policy's name, for settings and command lines.
public enum EvictionPolicy: String, Sendable, Hashable, CaseIterable {
  /// Least recently used, in exact order.
  ///
  /// The entry that was not used for longest goes first; insertion, replacement and every hit count
  /// as use. Hits are noted in batches.
  ///
  /// Peter J. Denning, "The Working Set Model for Program Behavior", CACM 11(5), 1968; the batches
  /// follow Ding, Jiang and Zhang, "BP-Wrapper", ICDE 2009.
  case lru

  /// First in, first out.
  ///
  /// The entry stored longest ago goes first. Hits change nothing and store nothing; a replacement
  /// keeps the place of the value it replaces, unless that would be the next to go.
  case fifo

  /// Least frequently used.
  ///
  /// The entry with the fewest uses goes first, among equals the one not used for longest. Uses are
  /// counted up to 255 and never forgotten while the entry is stored, so what was popular once
  /// stays long; ``tinyLFU`` forgets. Hits are noted in batches and take O(1).
  ///
  /// Shah, Mitra and Matani, "An O(1) algorithm for implementing the LFU cache eviction scheme",
  /// 2010.
  case lfu

  /// First in, first out with a second chance.
  ///
  /// The entry stored longest ago goes first, but one that was hit is spared and counts as new,
  /// without its hit. At most 64 entries are looked at for one eviction. Hits count in the entry,
  /// up to 1.
  ///
  /// F. J. Corbató, "A Paging Experiment with the Multics System", MIT Project MAC, 1968.
  case clock

  /// SIEVE.
  ///
  /// A hand walks from the oldest entry to the newest and on from the oldest again, evicts the
  /// first it finds without a hit, and takes the hit from those it spares, which keep their place.
  /// Good where few keys are popular for long, bad where popularity moves on. For one eviction the
  /// hand passes at most 1,024 entries; when all of them were hit, the newest entry goes. Hits
  /// count in the entry, up to 1.
  ///
  /// Zhang, Yang, Yue, Vigfusson and Rashmi, "SIEVE is Simpler than LRU: an Efficient Turn-Key
  /// Eviction Algorithm for Web Caches", NSDI 2024.
  case sieve

  /// S3-FIFO.
  ///
  /// New entries pass a small queue of a tenth of the cache. Those hit twice there, and keys that
  /// are asked for again soon after they left it, get into the main queue, where a hit gives
  /// another round. What is used once only thus leaves quickly. At most 64 entries are looked at
  /// for one eviction. Hits count in the entry, up to 3.
  ///
  /// Yang, Zhang, Qiu, Yue and Vinayak, "FIFO Queues are All You Need for Cache Eviction", SOSP
  /// 2023.
  case s3fifo

  /// W-TinyLFU with an adaptive window.
  ///
  /// New entries enter a window. What leaves it stays only if its key was used more often lately
  /// than the entry it would displace, as a sketch of all recent keys remembers. The window grows
  /// and shrinks as the hit ratio tells. Hits are noted in batches.
  ///
  /// Einziger, Friedman and Manes, "TinyLFU: A Highly Efficient Cache Admission Policy", ACM
  /// Transactions on Storage 13(4), 2017; Einziger, Eytan, Friedman and Manes, "Adaptive Software
  /// Cache Management", Middleware 2018. The parameters are those of Caffeine 3.2.
  case tinyLFU

  /// 2Q, in its full version.
  ///
  /// New entries pass a first-in-first-out queue of a quarter of the cache, where hits change
  /// nothing. Keys asked for again soon after they left it get into the main queue, which is exact
  /// LRU. Hits are noted in batches.
  ///
  /// Johnson and Shasha, "2Q: A Low Overhead High Performance Buffer Management Replacement
  /// Algorithm", VLDB 1994.
  case twoQueue

  /// The cheapest first: costs are what it takes to get a value again.
  ///
  /// The entry of least cost goes first, among equals the one stored or replaced longest ago. Hits
  /// change nothing and store nothing. Storing, replacing and removing take O(log *n*).
  ///
  /// It is the order of `NSCache` in swift-corelibs-foundation, with two differences: that evicts
  /// the newest of equals, so that a full cache of equal costs never changes again, and it inserts
  /// in O(*n*).
  ///
  /// The cache must have a total cost limit; where only the count is to be limited, it may be
  /// `Int.max`.
  case cheapestFirst

  /// The least use for its cost first: costs are sizes. For caches bounded by total cost.
  ///
  /// An entry is worth its uses divided by its cost, plus an age that rises with each eviction and
  /// makes those fall behind that are used no more. Uses of keys that were evicted are remembered.
  /// It misses fewest requests where sizes differ; where missed bytes matter more than missed
  /// requests, ``s3fifo`` misses fewer of those. Hits count in the entry, up to 15. Storing,
  /// replacing, removing and evicting take O(log *n*), and at most 64 entries are looked at for one
  /// eviction. The cache must have a total cost limit.
  ///
  /// Cherkasova, "Improving WWW Proxies Performance with Greedy-Dual-Size-Frequency Caching
  /// Policy", HP Laboratories HPL-98-69R1, 1998; after Cao and Irani, "Cost-Aware WWW Proxy Caching
  /// Algorithms", USITS 1997.
  case costAware

  /// Whatever would have missed least lately. The default.
  ///
  /// Seven rules between FIFO queues, frequency admission and CLOCK run over a small sample of the
  /// keys, and the cache follows the best of them; <doc:TheAdaptivePolicy> tells how, and when not
  /// to use it. There is no order to rely on. Hits count in the entry, up to 3; an insertion looks
  /// at no more than 64 entries for one eviction. A cache that learns needs up to 16 bytes more for
  /// each entry (fixed, 24 KB and 7 bytes each, below 2,700 entries), from a sixteenth of its
  /// limits on.
  ///
  /// It builds on S3-FIFO (Yang et al., SOSP 2023), Clock2Q+, miniature simulations (Waldspurger et
  /// al., USENIX ATC 2017) and the experts of LeCaR (Vietri et al., HotStorage 2018) and Cacheus
  /// (Rodriguez et al., FAST 2021).
  case adaptive

  /// The policy a cache has when none is named: ``adaptive``.
  public static let `default` = EvictionPolicy.adaptive

  /// Whether the policy orders entries by their costs.
  package var needsCosts: Bool { core.pointee.by_cost }

  func requireLimit(_ totalCostLimit: Int) {
    require(
      !needsCosts || totalCostLimit > 0,
      "policy must not order by cost without a totalCostLimit (Int.max will do)")
  }
}
