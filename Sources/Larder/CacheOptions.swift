// SPDX-License-Identifier: Apache-2.0

extension Cache {
  /// What a cache can do beyond keeping values within limits. Each costs something only where it is
  /// asked for, and none slows a hit.
  ///
  ///     let images = Cache<String, Image>(
  ///       totalCostLimit: 100 << 20, options: .init(preferredTotalCost: 60 << 20))
  public struct Options: Sendable {
    /// Low-water marks; 0 for none. An insertion of a new key that finds no room (the high-water
    /// mark is the limit itself, which always holds) begins a purge: it and the insertions after it
    /// each evict up to eight entries beyond what they need, until at most this many entries, and
    /// at most this total cost, are left. So no call pays for thousands of evictions. While nothing
    /// is inserted the purge pauses. It goes by the policy's order, and by each shard's: even the
    /// new entry may go, with a policy that does not keep the newest longest, with several shards,
    /// and where it alone is above the mark. Must not be negative; a mark that is not below its
    /// limit does nothing.
    public var preferredCount: Int
    /// The low-water mark of the total cost, see ``preferredCount``.
    public var preferredTotalCost: Int

    /// Where values are released that leave the cache; `nil` for the thread at hand, see ``Cache``.
    public var release: ValueRelease<Value>?

    /// Asked before an insertion of a new key into a full cache evicts an entry; `nil` for no
    /// questions. What it refuses stays, if another goes instead.
    ///
    /// It cannot keep the cache from its limits, nor an insertion from returning. For one insertion
    /// at most the eight coldest entries are asked about, each once; those it agrees to go, until
    /// there is room. If that is not enough, be it that all eight are refused, the policy's next
    /// victims go unasked. What is refused counts as used, so that others are asked about next
    /// time, as far as the policy goes by use. Not asked about: entries that other threads'
    /// insertions push out meanwhile, and what goes by trimming, lowered limits, purges and quotas.
    ///
    /// Called on the inserting thread, without a lock; it may call the cache. An insertion into a
    /// full cache takes some microseconds with it.
    public var shouldEvict: (@Sendable (_ key: Key, _ value: Value) -> Bool)?

    /// Groups of keys, to be removed together and to have quotas; `nil` for none.
    public var groups: KeyGroups<Key>?

    /// How many evicted keys ``Cache/wasEvicted(_:)`` knows of, about; 0 for none. Takes some nine
    /// bytes for each. Must not be negative, and must be
    /// below 2^31.
    public var rememberedEvictions: Int

    /// Whether entries are numbered in the order of their insertion, for
    /// ``Cache/trimOldest(toCount:)``. Takes 8 bytes for each entry, and a counter that all
    /// insertions count up.
    public var remembersAge: Bool

    /// What the hash function begins with; drawn at random if `nil`, see `KeyHasher`. Policies know
    /// evicted keys by parts of their hashes, so tests of their exact order need hashes that
    /// repeat.
    package var hashSeeds: (UInt64, UInt64)?

    var secondChanceCount = 0
    var makeSecondChance: (@Sendable (Releaser<Value>?) -> SecondChance<Key, Value>)?

    /// Options of which only those named are used.
    public init(
      preferredCount: Int = 0, preferredTotalCost: Int = 0, release: ValueRelease<Value>? = nil,
      shouldEvict: (@Sendable (_ key: Key, _ value: Value) -> Bool)? = nil,
      groups: KeyGroups<Key>? = nil, rememberedEvictions: Int = 0, remembersAge: Bool = false
    ) {
      self.preferredCount = preferredCount
      self.preferredTotalCost = preferredTotalCost
      self.release = release
      self.shouldEvict = shouldEvict
      self.groups = groups
      self.rememberedEvictions = rememberedEvictions
      self.remembersAge = remembersAge
    }
  }
}
