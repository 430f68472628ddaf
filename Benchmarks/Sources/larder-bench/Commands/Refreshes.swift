// SPDX-License-Identifier: Apache-2.0
import CBench
import Dispatch
import Larder

/// `larder-bench latency --refreshes N`: what a read of one of N hot keys takes, through a cache
/// that loads; the same where values expire, but not yet; and where each value lives for 0.9 s, is
/// loaded anew in the background when it is 0.3 s old, and a load takes a millisecond.
///
/// A read that begins a load takes as long as that: a microsecond. Values are loaded so rarely that
/// this is less than one read in a thousand. The table has the number of loads.
struct Refreshes {
  private static let rounds = 3
  private static let nanoseconds: UInt64 = 1_000_000_000

  /// A way to keep the values, and what was seen of it.
  private struct Subject {
    let name: String
    let cache: LoadingCache<UInt64, UInt64>
    var times = Histogram()
    var (wall, cpu) = (0.0, 0.0)

    init(_ name: String, _ keys: Int, _ expiration: Expiration, _ loading: LoadingOptions) {
      self.name = name
      cache = LoadingCache(countLimit: 2 * keys, expiration: expiration, loading: loading) { key in
        try await Task.sleep(for: .milliseconds(1))
        return key
      }
    }
  }

  let keys: Int
  let threads: Int

  func run(_ results: inout Results) throws {
    try Arguments.refuseBeyondMemory(entries: 6 * keys)
    let clock = TickClock()
    var subjects = [
      Subject("values that stay", keys, .never, LoadingOptions()),
      Subject("values that expire much later", keys, .afterWrite(.seconds(3_600)), .init()),
      Subject(
        "values refreshed every 0.3 s", keys, .afterWrite(.milliseconds(900)),
        .init(refreshAfter: .milliseconds(300))),
    ]
    // In turn, so that what else the machine does meets all of them.
    for _ in 0..<Self.rounds {
      for index in subjects.indices {
        let cache = subjects[index].cache
        for number in 0..<UInt64(keys) { cache.cache.insert(number, forKey: scattered(number)) }
        let team = runTogether(threads, preparation: { _ in }, { read(cache, $0) })
        for times in team.results { subjects[index].times.add(times) }
        subjects[index].wall += team.wall
        subjects[index].cpu += team.cpu
      }
    }
    try publish(subjects, clock, &results)
  }

  /// Reads for a while on this thread. A read that misses goes on with one of the pool's.
  private func read(_ cache: LoadingCache<UInt64, UInt64>, _ thread: Int) -> Histogram {
    final class Reader: @unchecked Sendable {
      // Sendable: the semaphore hands it over.
      var times = Histogram()
    }
    let (reader, end) = (Reader(), DispatchSemaphore(value: 0))
    Task.immediate {
      await read(cache, thread, &reader.times)
      end.signal()
    }
    end.wait()
    return reader.times
  }

  private func read(
    _ cache: LoadingCache<UInt64, UInt64>, _ thread: Int, _ times: inout Histogram
  ) async {
    var (number, sum) = (UInt64(thread) << 32, UInt64(0))
    let end = lb_clock_ns(CLOCK_MONOTONIC) + Self.nanoseconds
    while lb_clock_ns(CLOCK_MONOTONIC) < end {
      for _ in 0..<64 {
        number += 1
        let key = scattered(scattered(number) % UInt64(keys))
        let begin = lb_ticks_begin()
        sum &+= (try? await cache[key]) ?? 0
        times.record(lb_ticks_end() &- begin)
      }
    }
    lb_consume(sum)
  }

  private func publish(
    _ subjects: [Subject], _ clock: TickClock, _ results: inout Results
  ) throws {
    var table = Table(
      ["reads of", "reads", "p50", "p99", "p99.9", "max", "loads", "misses", "processors"],
      textColumns: [])
    for subject in subjects {
      var curve = LatencyCurve()
      curve.add(subject.times.pairs(clock))
      let (loads, misses) = (subject.cache.statistics.loads, subject.cache.cache.statistics.misses)
      var row = Row(workload: subject.name, implementation: "larder")
      row.entries = keys
      row.threads = threads
      row.operations = Int(subject.times.total)
      row.percentiles = Row.Percentiles(curve)
      row.details = [
        ("loads", JSON(Double(loads))), ("misses", JSON(Double(misses))),
        ("processors", JSON(subject.cpu / subject.wall)),
      ]
      results.rows.append(row)
      let found = curve.percentiles([0.5, 0.99, 0.999]) + [curve.maximum]
      table.add(
        [subject.name, String(subject.times.total)] + found.map { fixed($0, 0) }
          + [String(loads), String(misses), fixed(subject.cpu / subject.wall, 2)])
    }
    try results.publish(
      table.markdown,
      "Nanoseconds on \(threads) threads, \(keys) keys; the timer's own cost, "
        + "\(fixed(clock.overheadNanoseconds, 1)), is subtracted. Processors: what the readers had "
        + "of them, on average.")
  }
}
