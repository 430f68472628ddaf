// SPDX-License-Identifier: Apache-2.0
public import CLarder

extension Cache {
  /// Returns the values stored for `keys`, in the order of the keys, with `nil` where there is
  /// none.
  ///
  /// The result is that of ``value(forKey:)`` for one key after the other. On caches larger than
  /// the processor's own this call is faster, because it loads the memory of several keys at the
  /// same time. Writes by other threads may fall between two keys.
  ///
  /// - Complexity: O(`keys.count`) on average. Takes no lock, except where ``value(forKey:)`` does.
  @inlinable
  public func values(forKeys keys: [Key]) -> [Value?] {
    guard let lane = lrd_lane_plain(core), lrd_loans_left(lane) > 0 else {
      return valuesSlowly(keys)
    }
    return values(keys, lane, expire: false)
  }

  /// ``values(forKeys:)`` of a cache whose entries expire, and where there is no lane or no loan.
  @inlinable @inline(never)
  func valuesSlowly(_ keys: [Key]) -> [Value?] {
    guard let lane = lrd_lane_timed(core), lrd_loans_left(lane) > 0 else {
      return keys.map(value(forKey:))
    }
    return values(keys, lane, expire: true)
  }

  /// `expire`: whether values do; a constant where this is inlined.
  @inlinable @inline(__always)
  func values(_ keys: [Key], _ lane: OpaquePointer, expire: Bool) -> [Value?] {
    [Value?](unsafeUninitializedCapacity: keys.count) { values, count in
      withUnsafeTemporaryAllocation(of: Candidate.self, capacity: batchWidth) { candidates in
        while count < keys.count {
          let width = Swift.min(batchWidth, lrd_loans_left(lane), keys.count - count)
          let group = UnsafeMutableBufferPointer(rebasing: candidates[..<width])
          let results = values.baseAddress! + count
          let loans = find(keys, from: count, group, lane)
          if !expire && lrd_lane_plain(core) != lane {
            // The cache has got its first lifetime since.
            giveBack(loans, lane)
            append(keys[count...], to: values.baseAddress!, &count)
            return
          }
          note(keys, from: count, group, lane, results, expire: expire)
          for index in 0..<width {
            guard let entry = group[index].entry else { continue }
            (results + index).initialize(to: entry.value(of: Layout.self).pointee)
          }
          giveBack(loans, lane)
          count += width
        }
      }
    }
  }

  @inlinable @inline(__always)
  func giveBack(_ loans: Int, _ lane: OpaquePointer) {
    for _ in 0..<loans {
      lrd_loan_unpin(lane)
      lrd_loan_end(lane)
    }
  }

  /// Looks up one key after the other.
  @usableFromInline @inline(never)
  func append(
    _ keys: ArraySlice<Key>, to values: UnsafeMutablePointer<Value?>, _ count: inout Int
  ) {
    for key in keys {
      (values + count).initialize(to: value(forKey: key))
      count += 1
    }
  }

  /// What a batched lookup knows of a key: its hash, and the entry on loan that may be its entry.
  @usableFromInline typealias Candidate = (hash: UInt64, entry: UnsafeMutablePointer<lrd_entry>?)

  /// Prefetches the buckets of a group of keys, then the entries. Returns the number of loans.
  @inlinable @inline(__always)
  func find(
    _ keys: [Key], from start: Int, _ group: UnsafeMutableBufferPointer<Candidate>,
    _ lane: OpaquePointer
  ) -> Int {
    for index in 0..<group.count {
      let hash = hasher.hash(keys[start + index])
      group.initializeElement(at: index, to: (hash, nil))
      lrd_prefetch_bucket(core, lane, hash)
    }
    lrd_prefetch_end(lane)
    var loans = 0
    for index in 0..<group.count {
      guard let entry = lrd_find(core, lane, group[index].hash, 0) else { continue }
      group[index].entry = entry
      lrd_prefetch_entry(entry, Layout.valueOffset + MemoryLayout<Value>.size)
      // The group is no larger than the number of loans left, so this one succeeds.
      _ = lrd_loan_pin(lane)
      loans += 1
    }
    return loans
  }

  /// Compares the keys and records hits and misses in order while the objects load. Entries that
  /// are still in the group afterwards are hits; all other results are in place.
  @inlinable @inline(__always)
  func note(
    _ keys: [Key], from start: Int, _ group: UnsafeMutableBufferPointer<Candidate>,
    _ lane: OpaquePointer, _ results: UnsafeMutablePointer<Value?>, expire: Bool
  ) {
    let applied = lrd_lane_applied(lane)
    for index in 0..<group.count {
      let (hash, entry) = group[index]
      guard let entry else {
        lrd_miss(core, lane, hash)
        (results + index).initialize(to: nil)
        continue
      }
      guard hasKey(entry, keys[start + index], hash) else {
        group[index].entry = nil
        (results + index).initialize(to: valueSlowly(keys[start + index], hash))
        continue
      }
      if expire && !lrd_entry_prolong(core, lane, entry) {
        group[index].entry = nil
        lrd_miss(core, lane, hash)
        (results + index).initialize(to: nil)
        continue
      }
      lrd_lane_found_at(lane, applied)
      lrd_hit(core, lane, entry, hash)
      if Layout.valueIsReference {
        lrd_prefetch_object(UnsafeRawPointer(entry.value(of: Layout.self)))
      }
    }
  }

  /// How many keys are loaded together: enough to hide one memory access behind the others.
  @inlinable var batchWidth: Int { 32 }
}
