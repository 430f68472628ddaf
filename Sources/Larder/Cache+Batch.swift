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
    guard let lane = lrd_lane_current(core) else { return keys.map(value(forKey:)) }
    return [Value?](unsafeUninitializedCapacity: keys.count) { values, count in
      var start = 0
      while start < keys.count {
        let end = Swift.min(start + batchWidth, keys.count)
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: batchWidth) { hashes in
          for index in start..<end {
            hashes[index - start] = hasher.hash(keys[index])
            lrd_prefetch_bucket(core, lane, hashes[index - start])
          }
          for index in start..<end { lrd_prefetch_entry(core, lane, hashes[index - start]) }
          lrd_prefetch_end(lane)
          for index in start..<end {
            let value = value(forKey: keys[index], hash: hashes[index - start])
            (values.baseAddress! + index).initialize(to: value)
            count = index + 1
          }
        }
        start = end
      }
    }
  }

  /// Keys whose memory is loaded together: enough to hide one miss behind the others.
  @inlinable var batchWidth: Int { 32 }
}
