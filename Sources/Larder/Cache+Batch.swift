// SPDX-License-Identifier: Apache-2.0
public import CLarder

extension Cache {
  /// The values stored for `keys`, in their order, `nil` where there is none.
  ///
  /// The same as ``value(forKey:)`` for one key after the other, but faster on caches larger than
  /// the processor's: the memory of several keys is loaded at the same time. Other threads' writes
  /// may fall between the keys.
  ///
  /// - Complexity: O(`keys.count`) on average. Takes no lock.
  @inlinable
  public func values(forKeys keys: [Key]) -> [Value?] {
    guard let lane = lrd_lane_current(core), lrd_loans_left(lane) > 0 else {
      return keys.map(value(forKey:))
    }
    return [Value?](unsafeUninitializedCapacity: keys.count) { values, count in
      withUnsafeTemporaryAllocation(of: UInt64.self, capacity: batchWidth) { hashes in
        while count < keys.count {
          let start = count
          let end = Swift.min(start + batchWidth, keys.count)
          for index in start..<end {
            hashes[index - start] = hasher.hash(keys[index])
            lrd_prefetch_bucket(core, lane, hashes[index - start])
          }
          for index in start..<end { lrd_prefetch_entry(core, lane, hashes[index - start]) }
          lrd_prefetch_end(lane)
          while count < end {
            let group = count..<Swift.min(count + lrd_loans_left(lane), end)
            lookUp(keys, group, hashes.baseAddress! - start, lane, values.baseAddress!)
            count = group.upperBound
          }
        }
      }
    }
  }

  /// Finds a few keys, at most as many as the thread has loans left, and only then copies their
  /// values, so that objects load at the same time before they are retained.
  ///
  /// Each hit is noted before the next key is looked for: noting one may apply the thread's batch,
  /// which is sound only for entries that were found after the batch was last applied.
  @inlinable
  func lookUp(
    _ keys: [Key], _ group: Range<Int>, _ hashes: UnsafeMutablePointer<UInt64>,
    _ lane: OpaquePointer, _ values: UnsafeMutablePointer<Value?>
  ) {
    withUnsafeTemporaryAllocation(
      of: UnsafeMutablePointer<lrd_entry>?.self, capacity: group.count
    ) { entries in
      for (place, index) in group.enumerated() {
        let entry = lrd_find(core, lane, hashes[index])
        entries.initializeElement(at: place, to: nil)
        guard let entry else {
          lrd_miss(lane)
          (values + index).initialize(to: nil)
          continue
        }
        if matches(entry, keys[index], hashes[index], lane), lrd_loan_open(lane) {
          entries[place] = entry
          lrd_hit(core, lane, entry, hashes[index])
          if Value.self is AnyObject.Type {
            lrd_prefetch_object(UnsafeRawPointer(entry.value(of: Layout.self)))
          }
        } else {
          lrd_loan_end(lane)
          (values + index).initialize(to: valueSlowly(keys[index], hashes[index]))
        }
      }
      for (place, index) in group.enumerated() {
        guard let entry = entries[place] else { continue }
        (values + index).initialize(to: entry.value(of: Layout.self).pointee)
      }
      for entry in entries where entry != nil {
        lrd_loan_close(lane)
        lrd_loan_end(lane)
      }
    }
  }

  /// Keys whose memory is loaded together: enough to hide one miss behind the others.
  @inlinable var batchWidth: Int { 32 }
}
