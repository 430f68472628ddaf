// SPDX-License-Identifier: Apache-2.0
import CLarder

/// How much memory there is, for limits that suit the machine a program happens to run on.
///
///     let cache = Cache<URL, Image>(totalCostLimit: PhysicalMemory.share(0.2))  // costs in bytes
public enum PhysicalMemory {
  /// Bytes of memory this process may use at most: the machine's, or on Linux the lowest limit of
  /// its control groups (of a container, a service, a batch job) if that is less; 1 GiB where the
  /// system does not tell. It says nothing of how much is free.
  ///
  /// - Complexity: Reads a few small files on Linux. Any thread may ask.
  public static var size: Int { Int(clamping: lrd_memory_size()) }

  /// A part of ``size`` in bytes, at least 1: a limit of 0 would be none.
  ///
  /// - Parameter fraction: Above 0 and at most 1. Anything else stops the process.
  /// - Complexity: As ``size``.
  public static func share(_ fraction: Double) -> Int {
    require(fraction > 0 && fraction <= 1, "fraction must be above 0 and at most 1")
    return max(1, Int(Double(size) * fraction))
  }
}
