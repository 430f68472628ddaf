// SPDX-License-Identifier: Apache-2.0
public import CLarder

extension Cache {
  /// A copy of one stored entry.
  public struct Element: Sendable {
    /// The key.
    public let key: Key
    /// The value. It is a copy, so objects are retained.
    public let value: Value
    /// The cost the entry was stored with.
    public let cost: Int

    @usableFromInline
    init(key: Key, value: Value, cost: Int) {
      self.key = key
      self.value = value
      self.cost = cost
    }
  }

  /// Returns all entries, hottest first.
  ///
  /// A key that is stored during the whole call is in the result exactly once, with a value that it
  /// had meanwhile, and any other key at most once.
  ///
  /// **Order.** A shard of up to 512 entries is listed as it is at one moment, in the exact order
  /// of the policy; so is a larger one if no other thread uses the cache meanwhile. Otherwise,
  /// entries that other threads use, store or replace meanwhile may be anywhere. With several
  /// shards, the result takes one entry of each in turn.
  ///
  /// **To fill another cache**, store the coldest first: then the order is about the same. The copy
  /// does not have what a policy remembers of earlier uses, nor what is left of lifetimes, which
  /// ``remainingLifetime(forKey:ifUsed:)`` tells.
  ///
  ///     let copy = Cache<URL, Page>(countLimit: 10_000)
  ///     for entry in pages.snapshot().reversed() {
  ///       copy.insert(entry.value, forKey: entry.key, cost: entry.cost)
  ///     }
  ///
  /// - Complexity: O(*n*). Locks a shard for some 64 entries at a time, or for all of them if there
  ///   are no more than 512, unless more keys than that have the same hash. Readers never wait.
  @inlinable
  public func snapshot() -> [Element] { elements(atMost: .max, hottestFirst: true) }

  /// The keys of all entries, in the order of ``snapshot()``.
  ///
  /// - Complexity: Like ``snapshot()``.
  public var keys: [Key] {
    // Values are not copied: copies that nobody asked for might become the last references.
    var surplus: [Key] = []
    let parts = (0..<shardCount).map { shard in
      copyShard(shard, atMost: .max, hottestFirst: true, key: { $0 }, surplus: &surplus) {
        $0.key(of: Layout.self).pointee
      }
    }
    return Self.inTurn(parts, atMost: .max)
  }

  /// The values of all entries, in the order of ``snapshot()``.
  ///
  /// - Complexity: Like ``snapshot()``.
  public var values: [Value] { snapshot().map(\.value) }

  /// Returns the `n` entries at the hot end of the policy's order, hottest first.
  ///
  /// That is the order as it stands. Policies that count hits in the entries move these only when
  /// they look for a victim. So an entry with many hits may be listed as cold, and a
  /// ``trim(toCount:file:line:)`` may keep it all the same.
  ///
  /// - Parameters:
  ///   - n: The most entries to return. Must not be negative.
  ///   - file: The file of the call, for the message of a trap.
  ///   - line: The line of the call, for the message of a trap.
  /// - Complexity: O(`n`) for each shard. Locks a shard for 64 entries at a time, or for all if it
  ///   has no more than 512. What is listed under one lock is the order at one moment. Of more,
  ///   some may be left out that other threads use, store or remove meanwhile; none is listed
  ///   twice.
  @inlinable
  public func hottest(
    _ n: Int, file: StaticString = #fileID, line: UInt = #line
  ) -> [Element] {
    require(n >= 0, "n must not be negative", file: file, line: line)
    return elements(atMost: n, hottestFirst: true)
  }

  /// Returns the `n` entries at the cold end of the policy's order, coldest first: those that the
  /// policy looks at next. Some policies spare those that were hit; see ``hottest(_:file:line:)``.
  ///
  /// - Parameters:
  ///   - n: The most entries to return. Must not be negative.
  ///   - file: The file of the call, for the message of a trap.
  ///   - line: The line of the call, for the message of a trap.
  /// - Complexity: O(`n`) for each shard. Locks a shard for 64 entries at a time, or for all if it
  ///   has no more than 512. What is listed under one lock is the order at one moment. Of more,
  ///   some may be left out that other threads use, store or remove meanwhile; none is listed
  ///   twice.
  @inlinable
  public func coldest(
    _ n: Int, file: StaticString = #fileID, line: UInt = #line
  ) -> [Element] {
    require(n >= 0, "n must not be negative", file: file, line: line)
    return elements(atMost: n, hottestFirst: false)
  }

  @usableFromInline var shardCount: Int { Int(lrd_cache_shards(core)) }

  @inlinable
  func elements(atMost n: Int, hottestFirst: Bool) -> [Element] {
    var surplus: [Element] = []
    var parts = (0..<shardCount).map { shard in
      copyShard(
        shard, atMost: n, hottestFirst: hottestFirst, key: { $0.key }, surplus: &surplus
      ) { entry in
        Element(
          key: entry.key(of: Layout.self).pointee, value: entry.value(of: Layout.self).pointee,
          cost: Int(clamping: lrd_entry_cost(entry)))
      }
    }
    let merged = Self.inTurn(parts, atMost: n)
    // Copies that are not returned may have become the last references.
    if extras != nil { giveUp(&parts, after: merged.count, &surplus) }
    return merged
  }

  /// Gives up the elements of `parts` except the first `n`, counting one of each part in turn, and
  /// those of `surplus`.
  @usableFromInline @inline(never)
  func giveUp(_ parts: inout [[Element]], after n: Int, _ surplus: inout [Element]) {
    guard let releaser = extras?.releaser else { return }
    var (turn, taken) = (0, 0)
    var ends = Array(repeating: 0, count: parts.count)
    while taken < n {
      for part in parts.indices where turn < parts[part].count && taken < n {
        ends[part] += 1
        taken += 1
      }
      turn += 1
    }
    var batches: [ReleaseBatch<Value>] = []
    for part in parts.indices {
      for element in parts[part][ends[part]...] { releaser.add(element.value, to: &batches) }
    }
    for element in surplus { releaser.add(element.value, to: &batches) }
    // Clear the arrays first, or a quick receiver would leave the last references here.
    (parts, surplus) = ([], [])
    for batch in batches { releaser.hand(batch) }
  }

  /// The first `n` items of several lists, taking one of each list in turn.
  @inlinable
  static func inTurn<Item>(_ parts: [[Item]], atMost n: Int) -> [Item] {
    if parts.count == 1 { return parts[0] }
    var merged: [Item] = []
    for turn in 0..<(parts.map(\.count).max() ?? 0) {
      for part in parts where turn < part.count && merged.count < n { merged.append(part[turn]) }
    }
    return merged
  }
}

extension Dictionary where Key: Sendable, Value: Sendable {
  /// Creates a dictionary from what a cache lists, in which no key is twice.
  ///
  ///     let stored = Dictionary(uniqueKeysWithValues: cache.snapshot())
  ///
  /// - Complexity: O(*n*).
  public init(uniqueKeysWithValues elements: [Cache<Key, Value>.Element]) {
    self.init(uniqueKeysWithValues: elements.lazy.map { ($0.key, $0.value) })
  }
}
