// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Nanoseconds for each operation: this thread's processor time, and wall time.
struct Sample {
  var cpu: Double
  var wall: Double

  private static func now(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
  }

  /// Times one run of `body`, which performs `operations` operations.
  static func of(_ operations: Int, _ body: () -> Void) -> Sample {
    let (cpu, wall) = (now(CLOCK_THREAD_CPUTIME_ID), now(CLOCK_MONOTONIC))
    body()
    return Sample(
      cpu: (now(CLOCK_THREAD_CPUTIME_ID) - cpu) / Double(operations),
      wall: (now(CLOCK_MONOTONIC) - wall) / Double(operations))
  }

  /// The median of each of the two times by itself.
  static func median(_ samples: [Sample]) -> Sample {
    let middle = samples.count / 2
    return Sample(
      cpu: samples.map(\.cpu).sorted()[middle], wall: samples.map(\.wall).sorted()[middle])
  }
}

/// Keeps the optimizer from dropping the measured work.
@inline(never)
func consume(_ value: Int) {}
