// SPDX-License-Identifier: Apache-2.0

/// How a full cache chooses the entry to evict.
///
/// The policy is chosen when the cache is created; those not chosen cost nothing.
/// <doc:ChoosingAPolicy> helps to choose. The new entry is never the victim of its own insertion,
/// and with every policy the number of steps of one eviction is bounded.
///
/// An entry of cost 0 frees none of the cost limit. So if room for cost is needed and the policy
/// does not order by cost, such an entry goes behind others when its turn comes, as if it had just
/// been stored or used; with `.lfu` it then counts as many uses as the next entry, for good. That
/// happens up to sixteen times in one eviction, which then looks at up to seventeen times as many
/// entries as stated below, and evicts the last of them. So one insertion may evict a seventeenth
/// of the entries of cost 0 in vain, if nothing else comes before the next entry that costs
/// something. Where most entries cost nothing, give them a cost, or limit the count.
///
/// If a value needs more room than the one it replaces, and that would be the next to be evicted,
/// it counts as new: its key loses the uses and the place that it had.
///
/// A policy that needs hits learns of them in one of two ways. Either a hit counts in a byte of the
/// entry, up to a small number, and stores nothing else. Or each thread gathers its hits and notes
/// 64 of them at a time. A cache with one shard that one thread uses then keeps the policy's exact
/// order. With several threads the order may lag behind by that many hits of every other thread,
/// or twice as many while a lock is busy. With several shards, each shard has an order of its own.
///
/// The raw value is the policy's name, for settings and command lines.
public enum EvictionPolicy: String, Sendable, Hashable, CaseIterable {
  /// Least recently used, in exact order.
  ///
  /// Evicts the entry that has not been used for the longest time. Insertion, replacement and every
  /// hit count as a use. Hits are noted in batches.
  ///
  /// Peter J. Denning, "The Working Set Model for Program Behavior", CACM 11(5), 1968; the batches
  /// follow Ding, Jiang and Zhang, "BP-Wrapper", ICDE 2009.
  case lru

  /// First in, first out.
  ///
  /// Evicts the entry stored longest ago. Hits change nothing and store nothing. A replacement
  /// keeps the position of the value it replaces.
  case fifo

  /// Least frequently used.
  ///
  /// Evicts the entry with the fewest uses, and among equals the one not used for the longest time.
  /// Uses are counted up to 255 and never forgotten while the entry is stored, so what was once
  /// popular stays long; ``tinyLFU`` forgets. Hits are noted in batches and take O(1).
  ///
  /// Shah, Mitra and Matani, "An O(1) algorithm for implementing the LFU cache eviction scheme",
  /// 2010.
  case lfu

  /// First in, first out with a second chance.
  ///
  /// Evicts the entry stored longest ago, but spares one that was hit, which then counts as new and
  /// loses its hit. One eviction looks at no more than 64 entries. Hits count in the entry, up
  /// to 1.
  ///
  /// F. J. Corbató, "A Paging Experiment with the Multics System", MIT Project MAC, 1968.
  case clock

  /// SIEVE.
  ///
  /// A hand walks from the oldest entry to the newest and begins again at the oldest. It evicts the
  /// first entry without a hit. Entries that it spares lose their hit and keep their position. Good
  /// if few keys are popular for long, bad if popularity moves on. For one eviction the hand passes
  /// at most 1,024 entries; if all of them were hit, the newest entry is evicted. Hits count in the
  /// entry, up to 1.
  ///
  /// Zhang, Yang, Yue, Vigfusson and Rashmi, "SIEVE is Simpler than LRU: an Efficient Turn-Key
  /// Eviction Algorithm for Web Caches", NSDI 2024.
  case sieve

  /// S3-FIFO.
  ///
  /// New entries pass through a small queue of a tenth of the cache. An entry that is hit twice
  /// there moves to the main queue, and so does a key that is asked for again soon after it left
  /// the small queue. In the main queue a hit gives an entry another round. So what is used only
  /// once leaves quickly. One eviction looks at no more than 64 entries. Hits count in the entry,
  /// up to 3.
  ///
  /// Yang, Zhang, Qiu, Yue and Vinayak, "FIFO Queues are All You Need for Cache Eviction", SOSP
  /// 2023.
  case s3fifo

  /// W-TinyLFU with an adaptive window.
  ///
  /// New entries enter a window. An entry that leaves the window stays only if its key was used
  /// more often recently than the entry it would displace, according to a sketch of all recent
  /// keys. The window grows and shrinks with the hit ratio. Hits are noted in batches.
  ///
  /// Einziger, Friedman and Manes, "TinyLFU: A Highly Efficient Cache Admission Policy", ACM
  /// Transactions on Storage 13(4), 2017; Einziger, Eytan, Friedman and Manes, "Adaptive Software
  /// Cache Management", Middleware 2018. The parameters are those of Caffeine 3.2.
  case tinyLFU

  /// 2Q, in its full version.
  ///
  /// New entries pass through a first-in-first-out queue of a quarter of the cache, where hits
  /// change nothing. A key asked for again soon after it left that queue moves to the main queue,
  /// which is exact LRU. Hits are noted in batches.
  ///
  /// Johnson and Shasha, "2Q: A Low Overhead High Performance Buffer Management Replacement
  /// Algorithm", VLDB 1994.
  case twoQueue

  /// The cheapest first. A cost is what it takes to get the value again.
  ///
  /// Evicts the entry of least cost, and among equals the one stored or replaced longest ago. Hits
  /// change nothing and store nothing. Storing, replacing and removing take O(log *n*).
  ///
  /// This is the order of `NSCache` in swift-corelibs-foundation, with two differences. NSCache
  /// evicts the newest of equals, so a full cache of equal costs never changes again. And it
  /// inserts in O(*n*).
  ///
  /// The cache must have a total cost limit. Where only the count matters, `Int.max` will do.
  case cheapestFirst

  /// The least use for its cost first. A cost is a size. For caches bounded by total cost.
  ///
  /// The worth of an entry is its uses divided by its cost, plus an age. The age rises with each
  /// eviction, so entries that are no longer used fall behind. Uses of evicted keys are remembered.
  ///
  /// If sizes differ, this policy misses the fewest requests. If missed bytes matter more than
  /// missed requests, ``s3fifo`` misses fewer bytes. Hits count in the entry, up to 15. Storing,
  /// replacing, removing and evicting take O(log *n*), and one eviction looks at no more than 64
  /// entries. The cache must have a total cost limit.
  ///
  /// Cherkasova, "Improving WWW Proxies Performance with Greedy-Dual-Size-Frequency Caching
  /// Policy", HP Laboratories HPL-98-69R1, 1998; after Cao and Irani, "Cost-Aware WWW Proxy Caching
  /// Algorithms", USITS 1997.
  case costAware

  /// Whichever rule would have missed least recently. The default.
  ///
  /// Seven rules, between FIFO queues and CLOCK, run over a small sample of the keys, and the cache
  /// follows the best of them. <doc:TheAdaptivePolicy> tells how, and when not to use it. There is
  /// no order to rely on. Hits count in the entry, up to 15. One eviction looks at no more than 64
  /// entries. As long as nothing is looked up, the newest entries remain. Those that were read
  /// outlive others, unless a rule that is better for the workload says otherwise. From a sixteenth
  /// of its limits on, the cache learns, which takes up to 8 more bytes for each entry. From 256 to
  /// 8,000 entries it is a fixed 27 KB plus 4 bytes for each entry, below that some 130 bytes for
  /// each, and 1.6 KB at least.
  ///
  /// It builds on S3-FIFO (Yang et al., SOSP 2023), Clock2Q+, miniature simulations (Waldspurger et
  /// al., USENIX ATC 2017) and the experts of LeCaR (Vietri et al., HotStorage 2018) and Cacheus
  /// (Rodriguez et al., FAST 2021).
  case adaptive

  /// The policy of a cache that is created without one: ``adaptive``.
  public static let `default` = EvictionPolicy.adaptive

  /// Whether the policy orders entries by their costs.
  package var needsCosts: Bool { core.pointee.by_cost }

  func requireLimit(_ totalCostLimit: Int, file: StaticString, line: UInt) {
    require(
      !needsCosts || totalCostLimit > 0,
      "policy must not order by cost without a totalCostLimit (Int.max will do)",
      file: file, line: line)
  }
}
