// SPDX-License-Identifier: Apache-2.0

/// The result of one implementation in a comparison: that of its best variant.
struct Outcome {
  let implementation: Implementation
  let configuration: Configuration
  let lock: String?
  let series: Series
  let curve: LatencyCurve?
  let timer: Double
  /// nil after one repetition.
  let spread: Double?
  let isRefused: Bool
  /// All variants and their times, if there are several.
  let variants: [(lock: String, judged: Double)]

  /// For tables.
  var title: String { implementation.title + (lock.map { ", \($0)" } ?? "") }

  var spreadText: String { spread.map { fixed(100 * $0, 1) + " %" } ?? "" }
}

/// Measures implementations side by side: A B C, B C A, …, each in a process of its own. Whatever
/// slows the machine for a while affects all of them alike.
struct Comparison {
  let configuration: Configuration
  let implementations: [Implementation]
  let method: Method
  /// If nil, measures throughput; otherwise latency at this rate, 0 for a closed loop.
  var rate: Double?

  private var variants: [(Implementation, Implementation.Variant)] {
    implementations.flatMap { implementation in
      implementation.variants.map { (implementation, $0) }
    }
  }

  /// A single repetition needs none, unless the warm-up chooses how long entries live.
  private var warmsUp: Bool { method.samples > 1 || configuration.expires }

  func announce(to progress: Progress) {
    for (implementation, variant) in variants {
      let label = "\(variant.name): \(configuration.label)"
      progress.expect(1, of: "set-up of \(label)")
      progress.expect(1 + method.samples, of: label)
      if warmsUp { progress.expect(implementation.warmUps, of: label) }
    }
  }

  func measure(_ progress: Progress) throws -> [Outcome] {
    let contenders = try variants.map { try Contender($0, $1, configuration) }
    for contender in contenders {
      try progress.unit(of: "set-up of \(contender.label)") { try contender.ready() }
      try progress.unit(of: contender.label) { try contender.probe(atMost: method.operations) }
    }
    if warmsUp {
      for contender in contenders {
        for _ in 0..<contender.implementation.warmUps {
          try progress.unit(of: contender.label) { try contender.warmUp() }
        }
      }
    }
    let collapsed = contenders.map { contender in isCollapsed(contender, among: contenders) }
    func repeatAll(_ rounds: Range<Int>) throws {
      for round in rounds {
        for turn in contenders.indices {
          let index = (turn + round) % contenders.count
          if collapsed[index] && round > 0 { continue }
          try progress.unit(of: contenders[index].label) {
            try measureOnce(contenders[index])
          }
        }
      }
    }
    try repeatAll(0..<method.samples)
    // Repetitions that differ too much get as many again, and all of them count. To stop as soon as
    // they agree would be to choose those that do by chance.
    if contenders.contains(where: isWide) {
      for (contender, collapsed) in zip(contenders, collapsed) where !collapsed {
        progress.expect(method.samples, of: contender.label)
      }
      try repeatAll(method.samples..<2 * method.samples)
    }
    return implementations.map { implementation in
      outcome(of: contenders.filter { $0.implementation.name == implementation.name })
    }
  }

  private func measureOnce(_ contender: Contender) throws {
    if let rate { try contender.sampleLatency(rate: rate) } else { try contender.sample() }
  }

  /// True if the warm-up took four times as long as that of another variant. It is then measured
  /// once: a lock that collapses may take half a minute each time, and does not count anyway.
  private func isCollapsed(_ contender: Contender, among all: [Contender]) -> Bool {
    let variants = all.filter { $0.implementation.name == contender.implementation.name }
    return contender.warmUpWall > 4 * variants.map(\.warmUpWall).min()!
  }

  private func isWide(_ contender: Contender) -> Bool {
    (contender.series.spread(threads: configuration.threads) ?? 0) > method.maximumSpread
  }

  private func outcome(of variants: [Contender]) -> Outcome {
    let threads = configuration.threads
    let best = variants.min {
      $0.series.judged(threads: threads) < $1.series.judged(threads: threads)
    }!
    return Outcome(
      implementation: best.implementation, configuration: configuration, lock: best.variant.lock,
      series: best.series, curve: rate == nil ? nil : best.curve, timer: best.timer,
      spread: best.series.spread(threads: threads), isRefused: isWide(best),
      variants: variants.compactMap { variant in
        variant.variant.lock.map { ($0, variant.series.judged(threads: threads)) }
      })
  }
}
