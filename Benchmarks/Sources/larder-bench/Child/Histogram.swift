// SPDX-License-Identifier: Apache-2.0

/// A log-linear histogram of ticks, like HdrHistogram: 128 equal buckets for every power of two, so
/// that a percentile is off by less than 1 %. Recording is an index and an increment, cheap enough
/// to follow every operation.
///
///     0 1 2 … 255 | 256 258 … 510 | 512 516 … 1020 | …      lower bounds of the buckets
struct Histogram {
  private static let subBucketBits = 7
  /// Distinguishes values up to 2^46 ticks, which is hours at any tick rate of today.
  private static let groups = 40

  private var counts = [UInt64](repeating: 0, count: (groups + 1) << subBucketBits)
  private(set) var total: UInt64 = 0
  private(set) var maximum: UInt64 = 0

  @inline(__always)
  mutating func record(_ ticks: UInt64) {
    counts[Self.index(of: ticks)] &+= 1
    total &+= 1
    if ticks > maximum { maximum = ticks }
  }

  mutating func add(_ other: Histogram) {
    for index in counts.indices { counts[index] += other.counts[index] }
    total += other.total
    maximum = max(maximum, other.maximum)
  }

  /// The smallest value that at least `fraction` of all recorded values do not exceed, rounded up
  /// to the upper bound of its bucket.
  func percentile(_ fraction: Double) -> UInt64 {
    let wanted = max(1, UInt64((fraction * Double(total)).rounded(.up)))
    var seen: UInt64 = 0
    for index in counts.indices {
      seen += counts[index]
      if seen >= wanted { return min(Self.upperBound(of: index), maximum) }
    }
    return maximum
  }

  /// Nanoseconds of every bucket that is not empty, and its count. The last one is the maximum.
  func pairs(_ clock: TickClock) -> [[Double]] {
    counts.indices.filter { counts[$0] > 0 }.map {
      [clock.nanoseconds(min(Self.upperBound(of: $0), maximum)), Double(counts[$0])]
    }
  }

  @inline(__always)
  private static func index(of ticks: UInt64) -> Int {
    let highest = 63 - ticks.leadingZeroBitCount
    let group = max(0, highest - subBucketBits)
    // Groups above 0 hold the upper half of their range only; the lower half is the group below.
    let index = group << subBucketBits + Int(truncatingIfNeeded: ticks >> UInt64(group))
    return min(index, (groups + 1) << subBucketBits - 1)
  }

  private static func upperBound(of index: Int) -> UInt64 {
    let group = max(0, index >> subBucketBits - 1)
    let offset = index - group << subBucketBits
    return UInt64(offset + 1) << UInt64(group) - 1
  }
}
