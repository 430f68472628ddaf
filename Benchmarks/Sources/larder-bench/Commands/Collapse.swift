// SPDX-License-Identifier: Apache-2.0
import CBench
import Foundation
import Larder
import Synchronization

/// `larder-bench latency --deadlines N`: what single operations on other entries take before, and
/// while, N entries of one cache expire at the same moment; how long it takes until all of them are
/// gone; and how much memory is the system's again afterwards.
struct Collapse {
  /// The entries that live, and that the operations are about.
  private static let living = 100_000
  /// How long operations are timed before the deadline.
  private static let lead = 2_000_000_000.0

  private struct Times {
    var lookups = Histogram()
    var insertions = Histogram()

    mutating func add(_ other: Times) {
      lookups.add(other.lookups)
      insertions.add(other.insertions)
    }
  }

  let entries: Int
  let threads: Int

  func run(_ results: inout Results) throws {
    try Arguments.refuseBeyondMemory(entries: 2 * entries)
    let clock = TickClock()
    let cache = Cache<UInt64, UInt64>(expiration: .afterWrite(.seconds(3_600)))
    for number in 0..<UInt64(Self.living) { cache.insert(number, forKey: scattered(number)) }
    let empty = lb_anonymous_bytes()
    // Filling takes less than a microsecond for each entry, the whole about as long as the lead.
    let now = lb_clock_ns(CLOCK_BOOTTIME)
    let deadline = now + UInt64(entries) * 2_000 + UInt64(Self.lead)
    for number in 0..<UInt64(entries) {
      let left = Int64(deadline) - Int64(lb_clock_ns(CLOCK_BOOTTIME))
      cache.insert(
        number, forKey: scattered(UInt64(Self.living) + number), expiresAfter: .nanoseconds(left))
    }
    let full = lb_anonymous_bytes()
    let wait = Int64(deadline) - Int64(lb_clock_ns(CLOCK_BOOTTIME)) - Int64(Self.lead)
    guard wait > -Int64(Self.lead) / 2 else { throw Trouble("this machine fills too slowly") }
    if wait > 0 { usleep(UInt32(wait / 1_000)) }

    let state = State()
    let team = runTogether(
      threads + 1, preparation: { _ in },
      { thread in
        thread == threads
          ? watch(cache, deadline, state) : operate(cache, thread, deadline, state)
      })
    var (before, during) = (Times(), Times())
    for result in team.results {
      before.add(result.before)
      during.add(result.during)
    }
    cache.reclaim()
    var left = lb_anonymous_bytes()
    for _ in 0..<100 where left > empty + (full - empty) / 50 {
      usleep(100_000)
      left = lb_anonymous_bytes()
    }
    try publish(
      before, during, clock, &results,
      gone: Double(state.gone.load(ordering: .relaxed)) / 1e6,
      memory: (full: full - empty, left: left > empty ? left - empty : 0))
  }

  /// When the last entry was gone, in nanoseconds after the deadline; 0 before.
  private final class State: Sendable {
    let gone = Atomic<UInt64>(0)
  }

  private func watch(
    _ cache: Cache<UInt64, UInt64>, _ deadline: UInt64, _ state: State
  ) -> (before: Times, during: Times) {
    while cache.count > Self.living { usleep(500) }
    state.gone.store(max(1, lb_clock_ns(CLOCK_BOOTTIME) - deadline), ordering: .relaxed)
    return (Times(), Times())
  }

  /// Seven lookups to one replacement, in an order that no branch predictor learns.
  private func operate(
    _ cache: Cache<UInt64, UInt64>, _ thread: Int, _ deadline: UInt64, _ state: State
  ) -> (before: Times, during: Times) {
    var (before, during, sum) = (Times(), Times(), UInt64(0))
    var number = UInt64(thread) << 32
    while state.gone.load(ordering: .relaxed) == 0 {
      let isOver = lb_clock_ns(CLOCK_BOOTTIME) >= deadline
      for _ in 0..<64 {
        number += 1
        let random = scattered(number)
        let key = scattered(random % UInt64(Self.living))
        let begin = lb_ticks_begin()
        if random >> 61 == 0 {
          cache.insert(number, forKey: key)
          let time = lb_ticks_end() &- begin
          if isOver { during.insertions.record(time) } else { before.insertions.record(time) }
        } else {
          sum &+= cache.value(forKey: key) ?? 0
          let time = lb_ticks_end() &- begin
          if isOver { during.lookups.record(time) } else { before.lookups.record(time) }
        }
      }
    }
    lb_consume(sum)
    return (before, during)
  }

  private func publish(
    _ before: Times, _ during: Times, _ clock: TickClock, _ results: inout Results,
    gone: Double, memory: (full: UInt64, left: UInt64)
  ) throws {
    var table = Table(
      ["operation", "when", "operations", "p50", "p99", "p99.9", "max"], textColumns: ["when"])
    let parts = [
      ("lookup", "before", before.lookups), ("lookup", "during", during.lookups),
      ("insertion", "before", before.insertions), ("insertion", "during", during.insertions),
    ]
    for (operation, when, histogram) in parts {
      var curve = LatencyCurve()
      curve.add(histogram.pairs(clock))
      var row = Row(workload: "\(operation) \(when) the deadline", implementation: "larder")
      row.entries = entries
      row.threads = threads
      row.operations = Int(histogram.total)
      row.percentiles = Row.Percentiles(curve)
      row.details = [
        ("goneMs", JSON(gone)), ("bytes", JSON(Double(memory.full))),
        ("bytesLeft", JSON(Double(memory.left))),
      ]
      results.rows.append(row)
      let found = curve.percentiles([0.5, 0.99, 0.999]) + [curve.maximum]
      table.add([operation, when, String(histogram.total)] + found.map { fixed($0, 0) })
    }
    try results.publish(
      table.markdown,
      "Nanoseconds on \(threads) threads, on \(Self.living) other entries; the timer's own cost, "
        + "\(fixed(clock.overheadNanoseconds, 1)), is subtracted.",
      "All \(entries) were gone \(fixed(gone, 0)) ms after their deadline. They had taken "
        + "\(fixed(Double(memory.full) / 1e6, 1)) MB, of which \(fixed(Double(memory.left) / 1e6, 1)) "
        + "were left within 10 s of reclaim().")
  }
}
