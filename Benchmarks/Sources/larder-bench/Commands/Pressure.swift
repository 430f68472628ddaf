// SPDX-License-Identifier: Apache-2.0

/// `larder-bench pressure`: a cache in a control group whose memory runs short.
struct Pressure: Command {
  static let name = "pressure"
  static let summary = "a full cache and a growing neighbour in one control group"
  static let help = """
    Usage: larder-bench pressure [options]

    Makes a control group with a limit of memory (this takes root's rights; without them the command
    says so and measures nothing). A process in it fills a cache and is read through it, by Zipf's
    law over four times the keys that fit. A neighbour in the same group grows. This is done twice:
    by a cache that answers to memory pressure as every cache does by default, and by one that
    ignores it. Four parts of equal length follow each other: before, while the neighbour grows,
    after, and the last one.

      --limit N              the group's limit in MB (default 256)
      --cache N              the values in the cache, in MB (default 200)
      --neighbour N          what the neighbour grows to, in MB (default 150)
      --value-bytes N        the size of a value (default 14000, which fits blocks of 14 KB)
      --seconds N            the length of a part (default 10)
      --json FILE            write the results, with a sample every quarter of a second
    """

  private let limit: Int
  private let cache: Int
  private let neighbour: Int
  private let valueBytes: Int
  private let seconds: Int
  private let json: String?

  init(_ words: some Sequence<String>) throws {
    let arguments = try Arguments(
      words,
      options: ["--limit", "--cache", "--neighbour", "--value-bytes", "--seconds", "--json"])
    try arguments.refuseOperands(of: Self.name)
    limit = try arguments.positiveInteger("--limit", default: 256)
    cache = try arguments.positiveInteger("--cache", default: 200)
    neighbour = try arguments.positiveInteger("--neighbour", default: 150)
    valueBytes = try arguments.positiveInteger("--value-bytes", default: 14_000)
    seconds = try arguments.positiveInteger("--seconds", default: 10)
    json = arguments.text("--json")
    guard max(limit, cache, neighbour) <= 1 << 20 else {
      throw Failure("--limit, --cache and --neighbour are in MB, at most 1048576 of them")
    }
    guard valueBytes <= cache << 20 else { throw Failure("--value-bytes is more than --cache") }
  }

  func run() throws -> Bool {
    var results = try Results(path: json)
    let parts = ["before", "growth", "after", "last"]
    var table = Table(
      [
        "answer", "part", "hit ratio", "p50", "p99.9", "values, MB", "resident, MB",
        "neighbour, MB", "stalled, ms/s", "end",
      ], textColumns: ["part", "end"])
    for answers in [true, false] {
      let group: ControlGroup
      do { group = try ControlGroup(bytes: limit << 20) } catch let trouble as Trouble {
        note("pressure is skipped: \(trouble.message)")
        return true
      }
      let course = try self.course(answers, group)
      for (number, part) in parts.enumerated() {
        let samples = course.samples.filter { Int($0.time) / seconds == number }
        guard !samples.isEmpty else { continue }
        let isOver = course.samples.last!.time == samples.last!.time
        let summary = PressureSummary(samples, end: isOver ? course.end : "")
        results.rows.append(row(part, answers, summary, number == 0 ? course.samples : []))
        table.add([answers ? "gives way" : "ignores it", part] + summary.cells)
      }
    }
    try results.publish(
      table.markdown,
      "Values of \(valueBytes) bytes, \(cache) MB of them, and a neighbour of \(neighbour) MB in a "
        + "group of \(limit) MB; parts of \(seconds) s. Times are nanoseconds of a lookup.")
    return true
  }

  private func course(_ answers: Bool, _ group: ControlGroup) throws -> PressureCourse {
    let server = try Child(
      "server",
      [
        "operation": "serve", "group": group.path, "bytes": String(cache << 20),
        "value-bytes": String(valueBytes), "answers": answers ? "yes" : "no",
      ])
    let other = try Child("neighbour", ["operation": "grow", "group": group.path])
    return try PressureCourse(
      of: server, beside: other, in: group, seconds: seconds, growth: neighbour << 20)
  }

  private func row(
    _ part: String, _ answers: Bool, _ summary: PressureSummary, _ series: [PressureSample]
  ) -> Row {
    var row = Row(
      workload: "pressure, \(part)", implementation: answers ? "larder" : "larder-ignoring")
    row.capacity = cache << 20
    row.operations = summary.lookups
    row.hitRatio = summary.hitRatio
    row.percentiles = Row.Percentiles(summary.curve)
    row.details = [
      ("part", JSON(part)), ("end", JSON(summary.end)), ("valueBytes", JSON(valueBytes)),
      ("held", JSON(summary.held)), ("resident", JSON(summary.resident)),
      ("neighbour", JSON(summary.neighbour)), ("stalledMsPerS", JSON(summary.stalls)),
      ("series", .list(series.map(\.json))),
    ]
    return row
  }
}
