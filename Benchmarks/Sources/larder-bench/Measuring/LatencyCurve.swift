// SPDX-License-Identifier: Apache-2.0

/// The times of single operations: the buckets that children report, added up.
struct LatencyCurve {
  private var counts: [Double: Double] = [:]
  private(set) var total = 0.0

  mutating func add(_ pairs: [[Double]]) {
    for pair in pairs where pair.count == 2 {
      counts[pair[0], default: 0] += pair[1]
      total += pair[1]
    }
  }

  var maximum: Double { counts.keys.max() ?? 0 }

  func count(above nanoseconds: Double) -> Int {
    Int(counts.reduce(0) { $0 + ($1.key > nanoseconds ? $1.value : 0) })
  }

  /// The nanoseconds that these shares of all operations, in ascending order, do not exceed.
  func percentiles(_ fractions: [Double]) -> [Double] {
    var seen = 0.0
    var left = fractions[...]
    var found: [Double] = []
    for (time, count) in counts.sorted(by: { $0.key < $1.key }) {
      seen += count
      while let fraction = left.first, seen >= max(1, fraction * total) {
        found.append(time)
        left.removeFirst()
      }
    }
    return found + left.map { _ in maximum }
  }

  /// Enough points to draw the curve on an axis of nines.
  static let drawnFractions: [Double] =
    stride(from: 0.0, through: 0.98, by: 0.02).map { $0 }
    + [0.99, 0.995, 0.998, 0.999, 0.9995, 0.9998, 0.9999, 0.99995, 0.99999, 0.999999]
}
