// SPDX-License-Identifier: Apache-2.0

/// Traces that each favour another eviction rule.
public enum SyntheticTraces {
  public static let all: [(name: String, keys: [Int])] = [
    ("loop", (0..<12_000).map { $0 % 450 }),
    ("zigzag", zigzag(600, 12_000)),
    ("skewed", skewed(12_000)),
    ("skewed beside a scan", interleaved(skewed(6_000), (0..<6_000).map { 1_000_000 + $0 })),
    ("drifting", skewed(12_000).enumerated().map { $1 + $0 / 100 * 20 }),
    ("phases", skewed(4_000) + (0..<4_000).map { 50_000 + $0 % 400 } + skewed(4_000)),
  ]

  private static func zigzag(_ span: Int, _ count: Int) -> [Int] {
    (0..<count).map { $0 / span % 2 == 0 ? $0 % span : span - 1 - $0 % span }
  }

  /// Key k occurs about as often as 1 / (k + 1).
  private static func skewed(_ count: Int) -> [Int] {
    var random = SplitMix64(seed: 9)
    return (0..<count).map { _ in
      let bits = random.below(14)
      return (1 << bits) - 1 + random.below(1 << bits)
    }
  }

  private static func interleaved(_ first: [Int], _ second: [Int]) -> [Int] {
    zip(first, second).flatMap { [$0, $1] }
  }
}
