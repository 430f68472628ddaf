// SPDX-License-Identifier: Apache-2.0
import CMemory

/// How much memory there is, for limits that suit the machine a program runs on.
///
///     let cache = Cache<URL, Image>(
///       totalCostLimit: PhysicalMemory.share(0.2), cost: { _, image in image.byteCount })
public enum PhysicalMemory {
  /// The bytes of memory this process may use at most.
  ///
  /// That is the memory of the machine. On Linux it is the lowest limit of the process's control
  /// groups (of a container, a service, a batch job) if that is less. It is 1 GiB where the system
  /// does not tell. It says nothing about how much memory is free.
  ///
  /// - Complexity: Reads a few small files on Linux. Any thread may ask.
  public static var size: Int { Int(clamping: lrd_memory_size()) }

  /// A fraction of ``size`` in bytes, at least 1, because a limit of 0 would mean no limit.
  ///
  /// - Parameters:
  ///   - fraction: Must be above 0 and at most 1; the call traps otherwise.
  ///   - file: The file of the call, for the message of a trap.
  ///   - line: The line of the call, for the message of a trap.
  /// - Complexity: Like ``size``.
  public static func share(
    _ fraction: Double, file: StaticString = #fileID, line: UInt = #line
  ) -> Int {
    require(
      fraction > 0 && fraction <= 1, "fraction must be above 0 and at most 1",
      file: file, line: line)
    return max(1, Int(Double(size) * fraction))
  }
}
