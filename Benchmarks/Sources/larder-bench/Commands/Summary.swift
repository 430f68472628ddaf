// SPDX-License-Identifier: Apache-2.0

/// `larder-bench summary`: a table for a README, with one line for each implementation.
struct Summary: Command {
  static let name = "summary"
  static let summary = "one dated table of everything, for a README"
  static let help = """
    Usage: larder-bench summary [options]

    Measures all implementations and prints one table with one line for each. Times are processor
    time of one operation, medians, with 64-byte objects as values and Zipf 0.99 over a million
    keys.

      --against NAME[,...]   implementations (default \(defaultNames.joined(separator: ",")))
    \(Method.help)
      --json FILE            also write all measurements there
    """

  private static let defaultNames = [
    "larder", "nscache", "dictionary", "class-lru", "index-lru", "tbb-lru", "urcu", "caffeine",
  ]

  private let implementations: [Implementation]
  private let method: Method
  private let json: String?

  init(_ words: some Sequence<String>) throws {
    let arguments = try Method.arguments(words, of: Self.name, options: ["--against", "--json"])
    implementations = try arguments.list("--against", default: Self.defaultNames)
      .map(Implementation.init(named:))
    method = try Method(arguments)
    json = arguments.text("--json")
  }

  func run() throws -> Bool {
    var results = try Results(path: json)
    let progress = Progress()
    defer { progress.finish() }
    var cells: [String: [String: String]] = [:]
    for column in Column.all { progress.expect(1, of: "summary, \(column.title)") }
    progress.expect(1, of: "summary, memory")
    for column in Column.all {
      try progress.unit(of: "summary, \(column.title)") {
        var plan = Plan(
          workloads: [.resident],
          implementations: implementations.filter { $0.name != "larder-batch" }, method: method)
        column.change(&plan)
        plan.implementations.removeAll { !$0.workloads.contains(plan.workloads[0]) }
        for outcome in try plan.outcomes(&results, Progress(isSilent: true)) {
          var row = Row(outcome)
          if plan.workloads == [.readThrough] { row.hitRatio = outcome.series.hitRatio }
          results.rows.append(row)
          cells[outcome.implementation.name, default: [:]][column.title] =
            outcome.isRefused ? "refused" : column.text(outcome)
        }
      }
    }
    try progress.unit(of: "summary, memory") {
      let filling = try Filling(
        ["--against", implementations.map(\.name).joined(separator: ",")], Self.name,
        entries: [1_000_000], options: [])
      for subject in filling.subjects(&results) {
        let row = try Memory.measure(subject, 1_000_000, filling)
        results.rows.append(row)
        cells[row.implementation, default: [:]]["B/entry"] = fixed(row.bytesPerEntry ?? .nan, 0)
      }
    }
    progress.finish()
    let titles = Column.all.map(\.title) + ["B/entry"]
    var table = Table(["implementation"] + titles)
    for implementation in implementations {
      guard let own = cells[implementation.name] else { continue }
      table.add([implementation.title] + titles.map { own[$0] ?? "–" })
    }
    try results.publish(table.markdown, "medians of \(method.samples) repetitions")
    return !results.complainAboutSpread(method)
  }

  private struct Column: Sendable {
    let title: String
    let change: @Sendable (inout Plan) -> Void
    let text: @Sendable (Outcome) -> String

    static let all = [
      Column(title: "hit, ns", change: { _ in }, text: cpu),
      Column(title: "string hit, ns", change: { $0.keys = .string }, text: cpu),
      Column(title: "read-through, ns", change: { $0.workloads = [.readThrough] }, text: cpu),
      Column(title: "churn, ns", change: { $0.workloads = [.churn] }, text: cpu),
      Column(
        title: "8 threads, Mops/s", change: { $0.threads = [8] },
        text: { fixed(1e3 / $0.series.medianWall, 1) }),
      Column(
        title: "p99.9, ns",
        change: {
          $0.workloads = [.readThrough]
          $0.rate = 0
        },
        text: { fixed($0.curve?.percentiles([0.999])[0] ?? .nan, 0) }),
    ]

    private static let cpu: @Sendable (Outcome) -> String = { fixed($0.series.medianCPU, 0) }
  }
}
