// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// How much work the stress tests do. `LARDER_STRESS_SCALE` divides it, because sanitizers are
/// slow.
public enum Stress {
  public static let divisor: Int = {
    guard let text = getenv("LARDER_STRESS_SCALE") else { return 1 }
    return max(1, Int(String(cString: text)) ?? 1)
  }()

  public static func scaled(_ amount: Int, atLeast least: Int = 1) -> Int {
    max(least, amount / divisor)
  }
}
