// SPDX-License-Identifier: Apache-2.0
import CBench
import Foundation
import Larder
import Synchronization

/// A full cache that is read on one thread while another reports that memory is critical.
///
///     relieve      fills it, reports, and waits two seconds; tells the memory, and the times of reads
///
/// What is hot lies scattered among the rest, or is the newest tenth.
final class ReliefBench<Value: Sendable>: ChildBench {
  private let order: [Int]  // of insertion
  private let cache: Cache<UInt64, Value>
  private let make: @Sendable (UInt64) -> Value
  private let reads: [UInt64]
  private let clock = TickClock()
  private let empty: UInt64

  init(_ settings: ChildSettings, make: @escaping @Sendable (UInt64) -> Value) {
    let count = settings.number("entries")
    self.make = make
    if settings.text("hot") == "scattered" {
      var generator = SeededGenerator(seed: 5)
      order = (0..<count).shuffled(using: &generator)
      reads = ZipfSampler(keys: count).stream(count: 1 << 20, seed: 3)
    } else {
      order = Array(0..<count)
      let newest = UInt64(count - count / 10)..<UInt64(count)
      reads = (0..<1 << 20).map { scattered(newest.lowerBound + UInt64($0 % newest.count)) }
    }
    // The first look at either counter allocates. It must not count.
    _ = (lb_anonymous_bytes(), lb_allocated_bytes())
    empty = lb_anonymous_bytes()
    cache = Cache()
  }

  func perform(_ command: String, _ numbers: [Double]) throws -> ChildReply {
    guard command == "relieve", numbers.isEmpty else {
      throw Failure("a child does not know the command '\(command)' with these numbers")
    }
    for number in order { cache.insert(make(UInt64(number)), forKey: scattered(UInt64(number))) }
    for key in reads { _ = cache.value(forKey: key) }
    let full = lb_anonymous_bytes() - empty
    let course = Course()
    let team = runTogether(
      2, preparation: { _ in },
      { [self] thread -> [Histogram] in
        if thread == 1 { return read(course) }
        // Both threads run in all parts but the last one, so that they share the machine alike.
        spin(nanoseconds: 1_000_000_000)
        course.enter(.during)
        course.begin = lb_clock_ns(CLOCK_MONOTONIC)
        MemoryPressure.report(.critical)
        course.end = lb_clock_ns(CLOCK_MONOTONIC)
        course.enter(.after)
        course.resident = lb_anonymous_bytes()
        usleep(2_000_000)
        course.enter(.over)
        return []
      })
    let times = team.results.first { !$0.isEmpty } ?? []
    let left = lb_anonymous_bytes()
    let share = Double(cache.count) / Double(order.count)
    return ChildReply(
      timerNs: clock.overheadNanoseconds,
      relief: .init(
        full: Double(full), needed: Double(full) * share,
        atOnce: Double(course.resident) - Double(empty), left: Double(left) - Double(empty),
        nanoseconds: Double(course.end - course.begin), reads: times.map { $0.pairs(clock) }))
  }

  private enum Phase: Int { case before, during, after, over }

  /// What the reporting thread writes. All but the phase is read when it has ended.
  private final class Course: @unchecked Sendable {
    private let number = Atomic<Int>(Phase.before.rawValue)
    var (begin, end, resident) = (UInt64(0), UInt64(0), UInt64(0))

    var phase: Phase { Phase(rawValue: number.load(ordering: .relaxed))! }
    func enter(_ phase: Phase) { number.store(phase.rawValue, ordering: .relaxed) }
  }

  private func spin(nanoseconds: UInt64) {
    let end = lb_clock_ns(CLOCK_MONOTONIC) + nanoseconds
    while lb_clock_ns(CLOCK_MONOTONIC) < end {}
  }

  /// Reads until all is over. Returns the times of each part.
  private func read(_ course: Course) -> [Histogram] {
    var times = [Histogram](repeating: Histogram(), count: Phase.over.rawValue)
    var (next, found) = (0, UInt64(0))
    while true {
      let phase = course.phase
      if phase == .over { break }
      for _ in 0..<16 {
        let key = reads[next & (reads.count - 1)]
        next += 1
        let begin = lb_ticks_begin()
        let value = cache.value(forKey: key)
        times[phase.rawValue].record(lb_ticks_end() &- begin)
        if value != nil { found += 1 }
      }
    }
    lb_consume(found)
    return times
  }
}
extension ReliefBench: @unchecked Sendable {}  // Not written after creation.
