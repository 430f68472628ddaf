// SPDX-License-Identifier: Apache-2.0
import CBench
import Glibc

/// Fills an empty cache, in a process where nothing else has used the heap.
///
///     memory COUNT                 what COUNT entries add to the process
///     growth SECONDS COUNT...      the time of every insertion on the way to each COUNT; gives up
///                                  after SECONDS; then what the machine stalls by itself
struct FillingBench<R: Rival>: ChildBench {
  let limits: Limits

  func perform(_ command: String, _ numbers: [Double]) throws -> ChildReply {
    switch command {
    case "memory" where numbers.count == 1: memory(Int(numbers[0]))
    case "growth" where numbers.count > 1:
      growth(seconds: numbers[0], to: numbers.dropFirst().map { Int($0) })
    default: throw Failure("a child does not know the command '\(command)' with these numbers")
    }
  }

  /// Everything counts: tables, links, keys, values, locks, the allocator's rounding and whatever a
  /// growing table left behind.
  private func memory(_ count: Int) -> ChildReply {
    // The first look at either counter allocates. It must not count.
    _ = (lb_anonymous_bytes(), lb_allocated_bytes())
    let (resident, allocated) = (lb_anonymous_bytes(), lb_allocated_bytes())
    let rival = R(limits)
    for number in 0..<UInt64(count) {
      rival.put(R.Value(number), for: R.Key(number: scattered(number)))
    }
    return withExtendedLifetime(rival) {
      ChildReply(
        residentBytes: Double(lb_anonymous_bytes()) - Double(resident),
        allocatedBytes: Double(lb_allocated_bytes()) - Double(allocated))
    }
  }

  private func growth(seconds: Double, to counts: [Int]) -> ChildReply {
    let clock = TickClock()
    let deadline = lb_clock_ns(CLOCK_MONOTONIC) + UInt64(seconds * 1e9)
    let rival = R(limits)
    var reply = ChildReply(timerNs: clock.overheadNanoseconds, steps: [])
    let start = lb_clock_ns(CLOCK_MONOTONIC)
    var done = 0
    for count in counts {
      var histogram = Histogram()
      let cpu = lb_clock_ns(CLOCK_THREAD_CPUTIME_ID)
      let (reached, ticks) = insert(rival, done..<count, deadline, clock.overhead, &histogram)
      let spent = Double(lb_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu)
      let timer = Double(reached - done) * clock.overheadNanoseconds
      guard reached == count else {
        reply.note = "gave up after \(Int(seconds)) s at \(reached) entries"
        break
      }
      reply.steps?.append(
        GrowthStep(
          entries: count, operations: count - done,
          wallNs: Double(ticks) * clock.nanosecondsPerTick, cpuNs: spent - timer,
          histogram: histogram.pairs(clock)))
      done = count
    }
    let passed = lb_clock_ns(CLOCK_MONOTONIC) - start
    reply.stalls = stalls(for: min(passed, 10_000_000_000)).pairs(clock)
    return withExtendedLifetime(rival) { reply }
  }

  /// How long the system, or a host below it, stops a loop that does nothing.
  private func stalls(for nanoseconds: UInt64) -> Histogram {
    var histogram = Histogram()
    let end = lb_clock_ns(CLOCK_MONOTONIC) + nanoseconds
    var before = lb_ticks_begin()
    repeat {
      for _ in 0..<1_000 {
        let now = lb_ticks_begin()
        histogram.record(now - before)
        before = now
      }
    } while lb_clock_ns(CLOCK_MONOTONIC) < end
    return histogram
  }

  /// Inserts the keys with these numbers, at costs from 1 to 1,024. Returns how far it came, and
  /// the ticks of all insertions, each without the timer's `overhead`.
  @inline(never)
  private func insert(
    _ rival: R, _ numbers: Range<Int>, _ deadline: UInt64, _ overhead: UInt64,
    _ histogram: inout Histogram
  ) -> (reached: Int, ticks: UInt64) {
    var sum: UInt64 = 0
    for number in numbers {
      let random = scattered(UInt64(number))
      let (key, value) = (R.Key(number: random), R.Value(random))
      let begin = lb_ticks_begin()
      rival.put(value, for: key, cost: Int(random & 1023) + 1)
      let ticks = lb_ticks_end() - begin
      histogram.record(ticks)
      sum += ticks - min(ticks, overhead)
      if number & 255 == 255 && lb_clock_ns(CLOCK_MONOTONIC) > deadline { return (number, sum) }
    }
    return (numbers.upperBound, sum)
  }
}
