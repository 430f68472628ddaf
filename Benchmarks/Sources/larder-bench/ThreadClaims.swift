// SPDX-License-Identifier: Apache-2.0

/// Eight threads share a read-through cache that holds a tenth of the keys; Zipf 0.99.
struct ThreadClaims: ClaimGroup {
  let name = "threads"
  private static let threads = 8
  private static let keys = 1_000_000
  private static let capacity = 100_000
  private static let operationsPerThread = 1 << 18
  private static let latencyPasses = 3
  private static let labels = ["larder", "class-lru"].map { "threads, read-through, \($0)" }
  private static let latencyLabel = "threads, latency, larder"

  func announce(_ context: ClaimContext) {
    context.expectRounds(of: Self.labels)
    context.progress.expect(2 * Self.latencyPasses, of: Self.latencyLabel)
  }

  func measure(_ context: ClaimContext) -> [Claim] {
    let requests = Self.threads * Self.operationsPerThread
    let stream = ZipfSampler(keys: Self.keys).stream(count: requests, seed: 5)
    let larder = LarderRival<UInt64, Payload>(capacity: Self.capacity)
    let classLRU = ClassLRUWithNSLock<Payload>(capacity: Self.capacity)
    _ = readThroughLoop(larder, stream[...])
    _ = readThroughLoop(classLRU, stream[...])

    let series = interleaved(
      [
        Contender(label: Self.labels[0]) { _ in Self.repetition(larder, stream) },
        Contender(label: Self.labels[1]) { _ in Self.repetition(classLRU, stream) },
      ], rounds: context.rounds, context.progress)
    let (alone, together) = Self.hitLatencies(larder, stream, context)
    return [
      Claim(
        "8 threads, read-through at 10 %: throughput / class-node LRU under NSLock",
        throughputOf: series[0], over: series[1], atLeast: 1.5),
      Self.latencyClaim(alone, together, context.clock),
    ]
  }

  /// The part of `stream` that belongs to one thread.
  private static func part(_ thread: Int, of stream: [UInt64]) -> ArraySlice<UInt64> {
    let first = thread * operationsPerThread
    return stream[first..<first + operationsPerThread]
  }

  private static func repetition<R: Rival>(_ rival: R, _ stream: [UInt64]) -> Sample
  where R.Key == UInt64, R.Value == Payload {
    let team = runTogether(threads) { readThroughLoop(rival, part($0, of: stream)) }
    let count = Double(stream.count)
    return Sample(wall: team.wall / count, cpu: team.cpu / count)
  }

  /// Times of hits when one thread works through all requests, and when all threads share them.
  private static func hitLatencies<R: Rival>(
    _ rival: R, _ stream: [UInt64], _ context: ClaimContext
  ) -> (alone: Histogram, together: Histogram) where R.Key == UInt64, R.Value == Payload {
    let timed = { @Sendable (requests: ArraySlice<UInt64>) -> Histogram in
      var all = Histogram()
      var hits = Histogram()
      timedReadThroughLoop(rival, requests, all: &all, ofHits: &hits)
      return hits
    }
    var alone = Histogram()
    var together = Histogram()
    for _ in 0..<latencyPasses {
      let one = context.progress.unit(of: latencyLabel) {
        runTogether(1) { _ in timed(stream[...]) }
      }
      for histogram in one.results { alone.add(histogram) }
      let many = context.progress.unit(of: latencyLabel) {
        runTogether(threads) { timed(part($0, of: stream)) }
      }
      for histogram in many.results { together.add(histogram) }
    }
    return (alone, together)
  }

  private static func latencyClaim(
    _ alone: Histogram, _ together: Histogram, _ clock: TickClock
  ) -> Claim {
    let bar = 4.0
    let times = [alone, together].map { histogram in
      [histogram.percentile(0.999), histogram.percentile(0.9999), histogram.maximum]
        .map(clock.nanoseconds)
    }
    let ratio = times[1][0] / times[0][0]
    let texts = times.map { $0.map(duration).joined(separator: " / ") }
    return Claim(
      text: "8 threads, p99.9 of a hit / p99.9 on one thread (p99.9 / p99.99 / max)",
      measured: "\(texts[1]) against \(texts[0])", bar: "<= \(fixed(bar, 2)) wall",
      holds: ratio <= bar, ratios: ["", "", fixed(ratio, 3)])
  }
}
