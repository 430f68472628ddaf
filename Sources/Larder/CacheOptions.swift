// SPDX-License-Identifier: Apache-2.0

extension Cache {
  /// What few caches need: shards, observers and optional features. Each one costs something only
  /// if it is used, and none but a lifetime slows a hit. <doc:OptionalFeatures> lists them with
  /// their costs.
  ///
  ///     let images = Cache<String, Image>(
  ///       totalCostLimit: 100 << 20, cost: { _, image in image.byteCount },
  ///       options: .init(preferredTotalCost: 60 << 20))
  public struct Options: Sendable {
    /// The number of parts that have a lock and an order of their own. It is rounded up to a power
    /// of two, at most 64, and must be positive. More shards let more threads write at once, but
    /// each has an order of its own.
    ///
    /// `nil` lets the cache choose: one shard, so that the order is exact. With
    /// ``EvictionPolicy/adaptive``, which has no order to keep, it chooses two for each processor,
    /// with 512 entries or more in each, or eight with 8,192 or more. The limits hold for the whole
    /// cache, however many shards there are.
    public var shards: Int?

    /// Receives every entry that leaves, except when the cache itself goes away. Removals are
    /// cheaper without it. ``Cache/observeRemovals(_:)`` adds observers to a cache that exists.
    public var onRemoval: RemovalObserver?

    /// Receives every value that is stored.
    public var onInsertion: InsertionObserver?

    /// The low-water mark of the number of entries; 0 for none.
    ///
    /// The high-water mark is the limit itself, which always holds. An insertion of a new key that
    /// finds no room begins a purge. During a purge, that insertion and those after it each evict
    /// up to eight entries beyond what they need, until at most this many entries, and at most
    /// ``preferredTotalCost``, are left. So no single call pays for thousands of evictions. The
    /// purge pauses while nothing is inserted.
    ///
    /// A purge follows the policy's order, and each shard's. It may evict even the new entry: with
    /// a policy that does not keep the newest entry longest, with several shards, or if that entry
    /// alone is above the mark. Must not be negative. A mark that is not below its limit has no
    /// effect.
    public var preferredCount: Int
    /// The low-water mark of the total cost; see ``preferredCount``.
    public var preferredTotalCost: Int

    /// Where values that leave the cache are released. If `nil`, the thread that destroys an entry
    /// releases its value; see ``Cache``.
    public var release: ValueRelease<Value>?

    /// Decides whether an entry may be evicted when a new key is inserted into a full cache. If
    /// `nil`, nobody is asked. An entry for which the closure returns false stays, provided that
    /// another can be evicted instead.
    ///
    /// The closure cannot make the cache exceed its limits, nor keep an insertion from returning.
    /// For each insertion it is asked about the eight coldest entries at most, each of them once.
    /// Those it agrees to are evicted until there is room. If that is not enough, for example
    /// because the closure refuses all eight, the policy's next victims are evicted without asking.
    /// A refusal counts as a use of the entry, so that a policy that goes by use has others to ask
    /// about next time.
    ///
    /// It is not asked about entries that the insertions of other threads push out meanwhile, nor
    /// about evictions by trimming, lowered limits, purges and quotas.
    ///
    /// The closure runs on the inserting thread, without a lock, and may use the cache. But it is
    /// asked again when it inserts a new key itself, so it must not do that each time. With it, an
    /// insertion into a full cache takes some microseconds, with the default policy and a million
    /// entries some fifty.
    public var shouldEvict: (@Sendable (_ key: Key, _ value: Value) -> Bool)?

    /// Groups of keys that can be removed together and can have quotas; `nil` for none.
    public var groups: KeyGroups<Key>?

    /// About how many evicted keys ``Cache/wasEvicted(_:)`` remembers; 0 for none. Takes some nine
    /// bytes for each from the beginning, beside ``Cache/memoryFootprint``: a cache for many takes
    /// time to make. Must not be negative, and must be below 2^31.
    public var rememberedEvictions: Int

    /// Whether entries are numbered in the order of their insertion, for
    /// ``Cache/trimOldest(toCount:file:line:)``. Takes 8 bytes for each entry, and one counter that
    /// all insertions share.
    public var remembersAge: Bool

    /// Computes the lifetime of a value that is stored without one of its own; `nil` if the cache's
    /// ``Cache/expiration`` is to hold. It is called once for each such value, on the inserting
    /// thread, without a lock, and may use the cache. The rules for lifetimes are those of
    /// ``Cache/insert(_:forKey:cost:expiresAfter:file:line:)``.
    ///
    /// It is also called for a value changed in place (`modifyValue`, `updateValue` with a closure,
    /// `cache[key]! += 1`). A lifetime that it returns then takes the place of the entry's own; if
    /// it returns `nil`, an entry that was given a lifetime, by this closure too, keeps its
    /// deadline.
    public var lifetime: (@Sendable (_ key: Key, _ value: Value) -> Duration?)?

    /// What the cache takes the time from.
    public var clock: CacheClock

    /// What the cache does when memory runs short. It can be changed later: ``Cache/pressure``.
    public var pressure: PressureResponse

    /// Whether entries have room for a cost from the start, as in caches with a total cost limit or
    /// a cost function. Otherwise each entry stored with a cost takes twice the memory of others.
    package var expectsCosts = false

    /// Whether entries have room for deadlines from the start, although the cache has no lifetime
    /// for them.
    package var expectsLifetimes = false

    /// The seeds of the hash function, see `KeyHasher`; random if `nil`. Policies know evicted keys
    /// by parts of their hashes, so tests of their exact order need hashes that repeat.
    package var hashSeeds: (UInt64, UInt64)?

    /// When the values of a ``LoadingCache`` are loaded anew, and how long they are kept, where no
    /// lookup finds them, after they have expired.
    var refreshing: Refreshing?
    var grace = Duration.zero

    /// Whether entries have that room in a cache with these options and no expiration of its own.
    /// A grace is given to timers when the cache is made, and not to those of a first lifetime.
    var expire: Bool {
      lifetime != nil || expectsLifetimes || refreshing != nil || grace > .zero
    }

    var secondChanceCount = 0
    var makeSecondChance: (@Sendable (Releaser<Value>?) -> SecondChance<Key, Value>)?

    /// Creates options. Those that are not given are off.
    public init(
      shards: Int? = nil, onRemoval: RemovalObserver? = nil, onInsertion: InsertionObserver? = nil,
      preferredCount: Int = 0, preferredTotalCost: Int = 0, release: ValueRelease<Value>? = nil,
      shouldEvict: (@Sendable (_ key: Key, _ value: Value) -> Bool)? = nil,
      groups: KeyGroups<Key>? = nil, rememberedEvictions: Int = 0, remembersAge: Bool = false,
      lifetime: (@Sendable (_ key: Key, _ value: Value) -> Duration?)? = nil,
      clock: CacheClock = .continuous, pressure: PressureResponse = .default
    ) {
      self.shards = shards
      self.onRemoval = onRemoval
      self.onInsertion = onInsertion
      self.preferredCount = preferredCount
      self.preferredTotalCost = preferredTotalCost
      self.release = release
      self.shouldEvict = shouldEvict
      self.groups = groups
      self.rememberedEvictions = rememberedEvictions
      self.remembersAge = remembersAge
      self.lifetime = lifetime
      self.clock = clock
      self.pressure = pressure
    }
  }
}
