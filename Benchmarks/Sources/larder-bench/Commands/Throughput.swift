// SPDX-License-Identifier: Apache-2.0

/// `larder-bench throughput`: how many operations, side by side.
struct Throughput: Command {
  static let name = "throughput"
  static let summary = "operations a second, wall and processor time of one operation"
  static let help = """
    Usage: larder-bench throughput [options]

    Measures implementations side by side and prints medians. ns/op is the wall time of a run over
    the operations of all threads together; CPU ns/op is the threads' own processor time.

    \(SideBySide.help)
    \(Method.help)
    """

  private let sideBySide: SideBySide

  init(_ words: some Sequence<String>) throws {
    sideBySide = try SideBySide(
      Method.arguments(words, of: Self.name, options: SideBySide.options))
  }

  func run() throws -> Bool {
    var results = try Results(path: sideBySide.json)
    let progress = Progress()
    defer { progress.finish() }
    let outcomes = try sideBySide.plan.outcomes(&results, progress)
    progress.finish()
    var table = Table(
      [
        "implementation", "workload", "threads", "Mops/s", "ns/op", "CPU ns/op", "min CPU",
        "spread", "hit ratio",
      ], textColumns: ["workload"])
    for outcome in outcomes {
      var row = Row(outcome)
      row.hitRatio = outcome.configuration.operation == "put" ? nil : outcome.series.hitRatio
      results.rows.append(row)
      let cells = [row.mops, row.nsPerOp, row.cpuNsPerOp]
        .map { $0.map { fixed($0, 2) } ?? "refused" }
      table.add(
        [outcome.title, row.workload, String(outcome.configuration.threads)] + cells + [
          outcome.isRefused ? "" : fixed(outcome.series.minimumCPU, 2),
          outcome.spreadText, row.hitRatio.map { fixed($0, 4) } ?? "",
        ])
    }
    try results.publish(table.markdown)
    return !results.complainAboutSpread(sideBySide.plan.method)
  }
}
