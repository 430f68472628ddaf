// SPDX-License-Identifier: Apache-2.0
import Larder
import PolicyFacts

/// What one cache found in all runs of a workload.
struct HitCounts {
  let implementation: Implementation
  let configuration: Configuration
  let parts: [UsageScript.Part]
  /// For every run the hits of every part.
  let runs: [[Int]]

  /// Fills during which a cache may still learn.
  static let learningFills = 3

  var isLRU: Bool { implementation.name == "larder" && configuration.policy == "lru" }

  var phases: [Int] { Array(Set(parts.map(\.phase))).sorted() }

  /// The places in `parts` of the fills of a phase that look anything up.
  func fills(of phase: Int) -> [Int] {
    parts.indices.filter {
      parts[$0].phase == phase && parts[$0].kind == .fill && parts[$0].lookups > 0
    }
  }

  /// Hits in these parts as a share of lookups, over all runs; nil without lookups.
  func ratio(_ places: some Sequence<Int>) -> Double? {
    let ratios = runs.indices.compactMap { ratio(places, run: $0) }
    return ratios.isEmpty ? nil : ratios.reduce(0, +) / Double(ratios.count)
  }

  func ratio(_ places: some Sequence<Int>, run: Int) -> Double? {
    let lookups = places.reduce(0) { $0 + parts[$1].lookups }
    return lookups == 0
      ? nil : Double(places.reduce(0) { $0 + runs[run][$1] }) / Double(lookups)
  }
}

/// The table of `larder-bench hits`, and its rows.
struct HitsTable {
  private var table = Table(
    [
      "implementation", "policy", "workload", "phase", "limit", "threads", "fills 1 to 3",
      "later", "worst run later", "of lru's, 1 to 3", "of lru's, later", "remain", "fill by fill",
    ], textColumns: ["policy", "workload", "phase", "fill by fill"])

  var markdown: String { table.markdown }

  /// Adds one line, and returns one row, for each phase.
  mutating func add(_ counts: HitCounts, beside lru: HitCounts?) -> [Row] {
    counts.phases.map { phase in
      let configuration = counts.configuration
      let fills = counts.fills(of: phase)
      let name = counts.parts.first { $0.phase == phase }!.name
      let first = fills.prefix(HitCounts.learningFills)
      let later = fills.dropFirst(HitCounts.learningFills)
      let worst = counts.runs.indices.compactMap { counts.ratio(later, run: $0) }.min()
      let ofLRU = [first, later].map { places in
        share(counts.ratio(places), of: lru?.ratio(places))
      }
      let looks = counts.parts.indices.filter {
        counts.parts[$0].phase == phase && counts.parts[$0].kind == .look
      }
      var row = Row(
        workload: configuration.workload, policy: configuration.policy,
        implementation: counts.implementation.name, keys: configuration.keys.rawValue,
        values: configuration.values.rawValue, threads: configuration.threads,
        capacity: configuration.capacity,
        operations: counts.parts.filter { $0.phase == phase }
          .reduce(0) { $0 + $1.requests.count } * counts.runs.count,
        hitRatio: counts.ratio(fills))
      row.details = [
        ("phase", JSON(phase)), ("phaseName", JSON(name)),
        ("hitRatioFirstFills", JSON(counts.ratio(first))),
        ("hitRatioLaterFills", JSON(counts.ratio(later))), ("worstRunLaterFills", JSON(worst)),
        ("ofLRUFirstFills", JSON(ofLRU[0])), ("ofLRULaterFills", JSON(ofLRU[1])),
        ("lookupsByFill", .list(fills.map { JSON(counts.parts[$0].lookups) })),
        ("hitsByFill", .list(counts.runs.map { run in .list(fills.map { JSON(run[$0]) }) })),
        ("looked", .list(looks.map { JSON(counts.parts[$0].lookups) })),
        ("remaining", .list(counts.runs.map { run in .list(looks.map { JSON(run[$0]) }) })),
      ]
      table.add(
        [
          counts.implementation.title, configuration.policy ?? "", configuration.workload,
          counts.phases.count > 1 ? "\(phase) \(name)" : "", String(configuration.capacity),
          String(configuration.threads),
        ] + ([counts.ratio(first), counts.ratio(later), worst] + ofLRU).map { percent($0) } + [
          remaining(counts, looks),
          fills.map { percent(counts.ratio([$0]), 0) }.joined(separator: " "),
        ])
      return row
    }
  }

  /// Ascending numbers as "1 2 7-9"; nil if there are more gaps than that many can show.
  private func runs(_ numbers: [Int], atMost most: Int) -> String? {
    var ranges: [ClosedRange<Int>] = []
    for number in numbers {
      if let last = ranges.last, last.upperBound == number - 1 {
        ranges[ranges.count - 1] = last.lowerBound...number
      } else {
        ranges.append(number...number)
      }
    }
    if ranges.count > most { return nil }
    return ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
      .joined(separator: " ")
  }

  private func share(_ part: Double?, of whole: Double?) -> Double? {
    guard let part, let whole, whole > 0 else { return nil }
    return part / whole
  }

  private func percent(_ share: Double?, _ decimals: Int = 1) -> String {
    share.map { fixed(100 * $0, decimals) } ?? ""
  }

  /// The worst run's. Where each key is looked at by itself, the keys that are there.
  private func remaining(_ counts: HitCounts, _ looks: [Int]) -> String {
    guard !looks.isEmpty else { return "" }
    let lookups = looks.reduce(0) { $0 + counts.parts[$1].lookups }
    let worst = counts.runs.min { run, other in
      looks.reduce(0) { $0 + run[$1] } < looks.reduce(0) { $0 + other[$1] }
    }!
    let there = looks.indices.filter { worst[looks[$0]] > 0 }
    if looks.count > 1, let runs = runs(there, atMost: 8) { return runs }
    return "\(looks.reduce(0) { $0 + worst[$1] }) of \(lookups)"
  }
}
