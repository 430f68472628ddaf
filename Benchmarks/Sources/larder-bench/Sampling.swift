// SPDX-License-Identifier: Apache-2.0
import CBench
import Glibc

/// What one repetition took.
struct Sample {
  var wall: Double  // nanoseconds per operation
  var cpu: Double

  /// Times `body`, which performs `operations` operations on the calling thread.
  static func measure(operations: Int, _ body: () -> Void) -> Sample {
    let wall = lb_clock_ns(CLOCK_MONOTONIC)
    let cpu = lb_clock_ns(CLOCK_THREAD_CPUTIME_ID)
    body()
    let cpuEnd = lb_clock_ns(CLOCK_THREAD_CPUTIME_ID)
    let wallEnd = lb_clock_ns(CLOCK_MONOTONIC)
    let count = Double(operations)
    return Sample(wall: Double(wallEnd - wall) / count, cpu: Double(cpuEnd - cpu) / count)
  }
}

/// Something that can be repeated. `repetition` receives the number of the round, so that all
/// contenders of a comparison can use the same part of a stream in the same round.
struct Contender {
  let label: String
  let repetition: (_ round: Int) -> Sample
}

/// The repetitions of one contender.
struct Series {
  var samples: [Sample] = []

  var medianWall: Double { median(samples.map(\.wall)) }
  var medianCPU: Double { median(samples.map(\.cpu)) }
  var minimumWall: Double { samples.map(\.wall).min()! }
  var minimumCPU: Double { samples.map(\.cpu).min()! }
}

/// Repeats all contenders in turn, A B A B …, after one repetition each as warm-up. The one that
/// begins changes from round to round: whatever slows the machine for a while, or what one
/// contender leaves in the processor's caches for the next, meets all of them alike.
func interleaved(_ contenders: [Contender], rounds: Int, _ progress: Progress) -> [Series] {
  var series = contenders.map { _ in Series() }
  for round in 0...rounds {
    for turn in contenders.indices {
      let index = (turn + round) % contenders.count
      let contender = contenders[index]
      let sample = progress.unit(of: contender.label) { contender.repetition(round) }
      if round > 0 { series[index].samples.append(sample) }
    }
  }
  return series
}

/// Announces what `interleaved` will do.
func announce(_ contenders: [Contender], rounds: Int, to progress: Progress) {
  for contender in contenders { progress.expect(rounds + 1, of: contender.label) }
}

func median(_ values: [Double]) -> Double {
  let sorted = values.sorted()
  let middle = sorted.count / 2
  return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/// Converts ticks to nanoseconds and knows what timing an operation costs by itself.
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
}
