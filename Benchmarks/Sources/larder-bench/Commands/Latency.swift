// SPDX-License-Identifier: Apache-2.0

/// `larder-bench latency`: how long single operations take.
struct Latency: Command {
  static let name = "latency"
  static let summary = "percentiles of the time of single operations"
  static let help = """
    Usage: larder-bench latency [options]

    Times every operation by itself and prints percentiles in nanoseconds. What timing an operation
    costs is measured, subtracted, and stated. Without --rate each thread begins an operation when
    its last one has ended. With it operations are due at fixed moments, whatever became of the
    earlier ones, and their time counts from then: no coordinated omission.

      --deadlines N          instead: operations on other entries of a Larder cache, while N
                             entries expire at one moment; takes --threads and --json alone
      --refreshes N          instead: reads of N hot keys through a cache that loads them, while all
                             of them are loaded anew all the time; takes --threads and --json alone
      --rate N               operations a second over all threads, from 100 to 1000000000
    \(SideBySide.help)
    \(Method.help)
    """

  private let sideBySide: SideBySide
  private let rate: Double
  private let deadlines: Int?
  private let refreshes: Int?

  init(_ words: some Sequence<String>) throws {
    let own: Set = ["--rate", "--deadlines", "--refreshes"]
    let arguments = try Method.arguments(
      words, of: Self.name, options: SideBySide.options.union(own))
    if let special = ["--deadlines", "--refreshes"].first(where: arguments.has) {
      let all = SideBySide.options.union(Method.options).union(Method.flags).union(own)
      let others = all.subtracting([special, "--threads", "--json"]).sorted()
      if let other = others.first(where: arguments.has) {
        throw Failure("\(special) takes --threads and --json alone, not \(other)")
      }
    }
    sideBySide = try SideBySide(arguments)
    rate = arguments.has("--rate") ? try arguments.rate() : 0
    deadlines = try arguments.optionalPositiveInteger("--deadlines")
    refreshes = try arguments.optionalPositiveInteger("--refreshes")
    if sideBySide.plan.implementations.contains(where: { $0.name == "larder-batch" }) {
      throw Failure("larder-batch looks up many keys at once, so it times no single lookup")
    }
  }

  func run() throws -> Bool {
    var results = try Results(path: sideBySide.json)
    if let deadlines {
      for threads in sideBySide.plan.threads {
        try Collapse(entries: deadlines, threads: threads).run(&results)
      }
      return true
    }
    if let refreshes {
      for threads in sideBySide.plan.threads {
        try Refreshes(keys: refreshes, threads: threads).run(&results)
      }
      return true
    }
    let progress = Progress()
    defer { progress.finish() }
    var plan = sideBySide.plan
    plan.rate = rate
    let outcomes = try plan.outcomes(&results, progress)
    progress.finish()
    var table = Table(
      [
        "implementation", "workload", "threads", "p50", "p90", "p99", "p99.9", "p99.99", "max",
        "timer", "spread",
      ], textColumns: ["workload"])
    for outcome in outcomes {
      let row = Row(outcome)
      results.rows.append(row)
      let times =
        row.percentiles.map {
          [$0.p50, $0.p90, $0.p99, $0.p999, $0.p9999, $0.max].map { fixed($0, 0) }
        } ?? [String](repeating: "refused", count: 6)
      table.add(
        [outcome.title, row.workload, String(outcome.configuration.threads)] + times
          + [fixed(outcome.timer, 1), outcome.spreadText])
    }
    let loop = rate > 0 ? "open loop, \(fixed(rate, 0)) operations/s" : "closed loop"
    try results.publish(
      table.markdown, "Nanoseconds, \(loop); the timer's own cost, in its column, is subtracted.")
    return !results.complainAboutSpread(plan.method)
  }
}
