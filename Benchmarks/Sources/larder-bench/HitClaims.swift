// SPDX-License-Identifier: Apache-2.0
import Larder

/// Hits among 10,000 entries: everything is in the processor's caches, instructions decide.
struct SmallHitClaims: ClaimGroup {
  let name = "hit-10k"
  private static let entries = 10_000
  private static let operations = 1 << 20
  private static let labels = ["larder", "larder withValue", "dictionary"].map {
    "hit-10k, objects, \($0)"
  }

  func announce(_ context: ClaimContext) { context.expectRounds(of: Self.labels) }

  func measure(_ context: ClaimContext) -> [Claim] {
    let stream = uniformStream(over: Self.entries, count: Self.operations, seed: 1)[...]
    let keys = shuffledKeys(Self.entries, seed: 2)
    let larder: LarderRival<UInt64, Payload> = filled(with: keys)
    let dictionary: DictionaryWithMutex<Payload> = filled(with: keys)
    let series = interleaved(
      [
        Contender(label: Self.labels[0]) { _ in
          Sample.measure(operations: stream.count) { hitLoop(larder, stream) }
        },
        Contender(label: Self.labels[1]) { _ in
          Sample.measure(operations: stream.count) { lendingLoop(larder.cache, stream) }
        },
        Contender(label: Self.labels[2]) { _ in
          Sample.measure(operations: stream.count) { hitLoop(dictionary, stream) }
        },
      ], rounds: context.rounds, context.progress)
    return [
      Claim(
        "hit, 10 k resident, objects: value(forKey:) / Dictionary under Mutex", series[0],
        against: series[2], atMost: 0.5),
      Claim(
        "hit, 10 k resident, objects: withValue / value(forKey:)", series[1],
        against: series[0], atMost: 0.7),
    ]
  }
}

/// Hits among 1,000,000 entries, Zipf 0.99: most of the time is waiting for memory.
struct LargeHitClaims: ClaimGroup {
  let name = "hit-1m"
  private static let entries = 1_000_000
  private static let batch = 64
  private static let batchesPerRepetition = 1 << 14
  /// Rounds walk through as many different pieces of the stream, so that neither branch
  /// predictors nor caches learn one by heart.
  private static let pieces = 4

  private static func labels(_ values: String) -> [String] {
    ["larder", "larder values(forKeys:)", "dictionary"].map { "hit-1m, \(values), \($0)" }
  }

  func announce(_ context: ClaimContext) {
    context.expectRounds(of: Self.labels("objects") + Self.labels("UInt64"))
  }

  func measure(_ context: ClaimContext) -> [Claim] {
    let requests = Self.pieces * Self.batchesPerRepetition * Self.batch
    let stream = ZipfSampler(keys: Self.entries).stream(count: requests, seed: 3)
    let batches = stride(from: 0, to: requests, by: Self.batch).map {
      Array(stream[$0..<$0 + Self.batch])
    }
    let keys = shuffledKeys(Self.entries, seed: 4)
    return measure(Payload.self, "objects", 1.0, keys, batches, context)
      + measure(UInt64.self, "UInt64", 0.9, keys, batches, context)
  }

  private func measure<Value: Measurable>(
    _ type: Value.Type, _ values: String, _ bar: Double, _ keys: [UInt64], _ batches: [[UInt64]],
    _ context: ClaimContext
  ) -> [Claim] {
    let labels = Self.labels(values)
    let operations = Self.batchesPerRepetition * Self.batch
    let piece = { (round: Int) -> ArraySlice<[UInt64]> in
      let first = round % Self.pieces * Self.batchesPerRepetition
      return batches[first..<first + Self.batchesPerRepetition]
    }
    let larder: LarderRival<UInt64, Value> = filled(with: keys)
    let dictionary: DictionaryWithMutex<Value> = filled(with: keys)
    let series = interleaved(
      [
        Contender(label: labels[0]) { round in
          Sample.measure(operations: operations) { hitLoop(larder, batches: piece(round)) }
        },
        Contender(label: labels[1]) { round in
          Sample.measure(operations: operations) { batchLoop(larder.cache, piece(round)) }
        },
        Contender(label: labels[2]) { round in
          Sample.measure(operations: operations) { hitLoop(dictionary, batches: piece(round)) }
        },
      ], rounds: context.rounds, context.progress)
    return [
      Claim(
        "hit, 1 M resident, Zipf, \(values): value(forKey:) / Dictionary under Mutex", series[0],
        against: series[2], atMost: bar),
      Claim(
        "hit, 1 M resident, Zipf, \(values): values(forKeys:) by 64 / single calls", series[1],
        against: series[0], atMost: 0.5),
    ]
  }
}

/// A cache that holds exactly `keys`.
private func filled<R: Rival>(with keys: [UInt64]) -> R
where R.Key == UInt64, R.Value: Measurable {
  let rival = R(capacity: keys.count)
  for key in keys { rival.put(R.Value(key), for: key) }
  return rival
}
