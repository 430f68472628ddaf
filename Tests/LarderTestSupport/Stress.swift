// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// How much work the long tests do. `LARDER_STRESS_SCALE` divides it: sanitizers are slow, and so
/// is waiting. Without it everything is done.
public enum Stress {
  public static let divisor: Int = {
    guard let text = getenv("LARDER_STRESS_SCALE") else { return 1 }
    return max(1, Int(String(cString: text)) ?? 1)
  }()

  public static func scaled(_ amount: Int, atLeast least: Int = 1) -> Int {
    max(least, amount / divisor)
  }

  /// One in `divisor` of `all`, at least one, in their order: by chance, so that every part of a
  /// regular list has its share, and always the same for a seed.
  public static func sample<Element>(
    _ all: [Element], seed: Int, divisor: Int = Stress.divisor
  ) -> [Element] {
    if divisor == 1 || all.isEmpty { return all }
    var random = SplitMix64(seed: UInt64(seed))
    let chosen = all.indices.shuffled(using: &random).prefix(max(1, all.count / divisor))
    return chosen.sorted().map { all[$0] }
  }
}
