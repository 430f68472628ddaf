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
  /// With one shard the result is the cache at one moment, in the exact order of its policy. With
  /// several shards, each shard is copied at a moment of its own, and the result takes one entry of
  /// each shard in turn.
  ///
  /// - Complexity: O(*n*). The writers of a shard wait while it is copied; readers do not.
  @inlinable
  public func snapshot() -> [Element] { elements(atMost: .max, hottestFirst: true) }

  /// The keys of all entries, in the order of ``snapshot()``.
  ///
  /// - Complexity: Like ``snapshot()``.
  public var keys: [Key] {
    // Values are not copied: copies that nobody asked for might become the last references.
    let parts = (0..<shardCount).map { shard in
      copyShard(shard, atMost: .max, hottestFirst: true) { $0.key(of: Layout.self).pointee }
    }
    return Self.inTurn(parts, atMost: .max)
  }

  /// The values of all entries, in the order of ``snapshot()``.
  ///
  /// - Complexity: Like ``snapshot()``.
  public var values: [Value] { snapshot().map(\.value) }

  /// Returns the `n` entries that the policy would keep longest, hottest first.
  ///
  /// - Parameters:
  ///   - n: The most entries to return. Must not be negative.
  ///   - file: The file of the call, for the message of a trap.
  ///   - line: The line of the call, for the message of a trap.
  /// - Complexity: O(`n`) for each shard. The writers of a shard wait while it is copied; readers
  ///   do not.
  @inlinable
  public func hottest(
    _ n: Int, file: StaticString = #fileID, line: UInt = #line
  ) -> [Element] {
    require(n >= 0, "n must not be negative", file: file, line: line)
    return elements(atMost: n, hottestFirst: true)
  }

  /// Returns the `n` entries that the policy would evict next, coldest first.
  ///
  /// - Parameters:
  ///   - n: The most entries to return. Must not be negative.
  ///   - file: The file of the call, for the message of a trap.
  ///   - line: The line of the call, for the message of a trap.
  /// - Complexity: O(`n`) for each shard. The writers of a shard wait while it is copied; readers
  ///   do not.
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
    var parts = (0..<shardCount).map { shard in
      copyShard(shard, atMost: n, hottestFirst: hottestFirst) { entry in
        Element(
          key: entry.key(of: Layout.self).pointee, value: entry.value(of: Layout.self).pointee,
          cost: Int(clamping: lrd_entry_cost(entry)))
      }
    }
    let merged = Self.inTurn(parts, atMost: n)
    // With several shards some copies are surplus, and may have become the last references.
    if extras != nil { giveUp(&parts, after: merged.count) }
    return merged
  }

  /// Gives up the elements of `parts` except the first `n`, counting one of each part in turn.
  @usableFromInline @inline(never)
  func giveUp(_ parts: inout [[Element]], after n: Int) {
    guard let releaser = extras?.releaser, parts.count > 1 else { return }
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
    // Clear `parts` first, or a quick receiver would leave the last references here.
    parts = []
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

  /// Copies entries of one shard under its lock. The buffer is allocated before, because nothing is
  /// allocated under a lock. A shard that outgrows the buffer meanwhile is tried again.
  @inlinable
  func copyShard<Copy>(
    _ index: Int, atMost n: Int, hottestFirst: Bool,
    _ copy: (UnsafeMutablePointer<lrd_entry>) -> Copy
  ) -> [Copy] {
    let lane = lrd_lane_attach(core)
    let shard = lrd_cache_shard_at(core, UInt32(index))
    var room = 0
    while true {
      var copies: [Copy] = []
      copies.reserveCapacity(room)
      lrd_shard_enter(core, lane, shard)
      let wanted = Swift.min(n, Int(lrd_shard_count_locked(shard)))
      guard wanted <= copies.capacity else {
        lrd_shard_leave(core, shard)
        room = wanted + wanted / 8
        continue
      }
      var entry = lrd_order_first_locked(core, shard, hottestFirst)
      while copies.count < wanted, let current = entry {
        copies.append(copy(current))
        entry = lrd_order_next_locked(core, shard, current, hottestFirst)
      }
      lrd_shard_leave(core, shard)
      return copies
    }
  }
}
