// SPDX-License-Identifier: Apache-2.0
import Larder

/// Every operation brings a new key with a new object into a full cache, and the oldest leaves.
struct ChurnClaims: ClaimGroup {
  let name = "churn"
  private static let capacity = 100_000
  private static let operations = 200_000
  private static let latencyPasses = 5
  private static let labels = ["larder", "class-lru", "class-lru-mutex"].map { "churn, \($0)" }
  private static let latencyLabel = "churn, latency"

  func announce(_ context: ClaimContext) {
    context.expectRounds(of: Self.labels)
    context.progress.expect(2 * Self.latencyPasses, of: Self.latencyLabel)
  }

  func measure(_ context: ClaimContext) -> [Claim] {
    let larder = Churn(LarderRival<UInt64, LargePayload>(capacity: Self.capacity))
    let withNSLock = Churn(ClassLRUWithNSLock<LargePayload>(capacity: Self.capacity))
    let withMutex = Churn(ClassLRUWithMutex<LargePayload>(capacity: Self.capacity))
    larder.run(Self.capacity)
    withNSLock.run(Self.capacity)
    withMutex.run(Self.capacity)

    let series = interleaved(
      [
        Contender(label: Self.labels[0]) { _ in larder.sample(Self.operations) },
        Contender(label: Self.labels[1]) { _ in withNSLock.sample(Self.operations) },
        Contender(label: Self.labels[2]) { _ in withMutex.sample(Self.operations) },
      ], rounds: context.rounds, context.progress)
    // One thread: the lock that suits the rival better is the one that counts.
    let mutexIsBetter = series[2].medianCPU < series[1].medianCPU

    var own = Histogram()
    var rivals = Histogram()
    for _ in 0..<Self.latencyPasses {
      context.progress.unit(of: Self.latencyLabel) { larder.time(Self.operations, into: &own) }
      context.progress.unit(of: Self.latencyLabel) {
        withNSLock.time(Self.operations, into: &rivals)
      }
    }
    return [
      Claim(
        "churn, 100 k full, 64 B objects: insert / class-node LRU, the better of NSLock and Mutex",
        series[0], against: mutexIsBetter ? series[2] : series[1], atMost: 1.0),
      Self.latencyClaim(own, rivals, context.clock),
    ]
  }

  private static func latencyClaim(
    _ own: Histogram, _ rivals: Histogram, _ clock: TickClock
  ) -> Claim {
    let bar = 5_000.0
    let times = [own, rivals].map { histogram in
      [histogram.percentile(0.999), histogram.percentile(0.9999), histogram.maximum]
        .map(clock.nanoseconds)
    }
    let texts = times.map { $0.map(duration).joined(separator: " / ") }
    return Claim(
      text: "churn, p99.9 of an insert (p99.9 / p99.99 / max), idle machine",
      measured: "\(texts[0]); class-node LRU: \(texts[1])", bar: "< \(duration(bar))",
      holds: times[0][0] < bar)
  }
}

/// A cache and the number of the next key that it has not seen.
private final class Churn<R: Rival> where R.Key == UInt64, R.Value: Measurable {
  private let rival: R
  private var next: UInt64 = 0

  init(_ rival: R) { self.rival = rival }

  func run(_ operations: Int) {
    churnLoop(rival, from: next, count: operations)
    next += UInt64(operations)
  }

  func sample(_ operations: Int) -> Sample {
    Sample.measure(operations: operations) { run(operations) }
  }

  func time(_ operations: Int, into histogram: inout Histogram) {
    timedChurnLoop(rival, from: next, count: operations, into: &histogram)
    next += UInt64(operations)
  }
}

/// A million integers, and all the memory that they take.
struct MemoryClaim: ClaimGroup {
  let name = "memory"
  private static let entries = 1_000_000

  func announce(_ context: ClaimContext) { context.progress.expect(1, of: name) }

  func measure(_ context: ClaimContext) throws -> [Claim] {
    let bar = 64.0
    let footprint = try context.progress.unit(of: name) {
      try Footprint.measured(inChildFor: "integer", entries: Self.entries)
    }
    let allocated =
      footprint.allocatedBytesPerEntry.map { "\(fixed($0, 1)) B by jemalloc's count" }
      ?? "jemalloc not linked"
    return [
      Claim(
        text: "memory per entry, UInt64 -> UInt64, 1 M entries, everything included",
        measured: "\(fixed(footprint.residentBytesPerEntry, 1)) B resident (\(allocated))",
        bar: "<= \(fixed(bar, 0)) B", holds: footprint.residentBytesPerEntry <= bar)
    ]
  }
}
