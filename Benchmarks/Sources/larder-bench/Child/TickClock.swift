// SPDX-License-Identifier: Apache-2.0
import CBench
import Glibc

/// Converts ticks to nanoseconds, and knows what timing an operation costs.
struct TickClock {
  let nanosecondsPerTick: Double
  /// The ticks between a begin and an end with nothing in between: the median of many.
  let overhead: UInt64

  init() {
    let startTicks = lb_ticks_begin()
    let start = lb_clock_ns(CLOCK_MONOTONIC)
    var end = start
    while end - start < 50_000_000 { end = lb_clock_ns(CLOCK_MONOTONIC) }
    nanosecondsPerTick = Double(end - start) / Double(lb_ticks_end() - startTicks)

    var empty = Histogram()
    for _ in 0..<100_000 {
      let begin = lb_ticks_begin()
      empty.record(lb_ticks_end() - begin)
    }
    overhead = empty.percentile(0.5)
  }

  /// `ticks` of one timed operation in nanoseconds, without the timer's own share.
  func nanoseconds(_ ticks: UInt64) -> Double {
    Double(ticks - min(ticks, overhead)) * nanosecondsPerTick
  }

  var overheadNanoseconds: Double { Double(overhead) * nanosecondsPerTick }

  /// Returns once the counter has reached `due`. Sleeps through long gaps and spins through short
  /// ones, because waking up takes longer than most operations.
  func wait(until due: UInt64) {
    let longGap = 200_000.0  // nanoseconds
    while true {
      let now = lb_ticks_begin()
      if now >= due { return }
      let left = Double(due - now) * nanosecondsPerTick
      if left > longGap {
        var pause = timespec(tv_sec: 0, tv_nsec: Int(min(left - longGap / 2, 5e8)))
        nanosleep(&pause, nil)
      }
    }
  }
}
