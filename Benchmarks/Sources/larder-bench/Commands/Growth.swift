// SPDX-License-Identifier: Apache-2.0

/// `larder-bench growth`: insertions into a cache that only grows.
struct Growth: Command {
  static let name = "growth"
  static let summary = "time of an insertion as a cache grows, and the slowest one"
  static let help = """
    Usage: larder-bench growth [options]

    Inserts new keys into a cache with room for all of them, in a fresh process for each
    implementation, and times every insertion by itself: the mean on the way from one size to the
    next, percentiles, the slowest, and how many took more than 100 us. CPU ns is the processor time
    of the whole loop, which also makes each key and value. Entries have costs from 1 to 1,024, as
    in caches bounded by bytes. The last line shows the machine's own pauses: for how long it stops
    a loop that only reads the clock. That loop runs right after the insertions of the named
    implementation, for as long as these took but ten seconds at most.

      --entries N[,...]      sizes (default 1000,10000,100000,1000000,10000000)
      --seconds N            give an implementation up after this time (default 60)
    \(Filling.help)
    """

  static let slow = 100_000.0  // nanoseconds

  private let filling: Filling
  private let seconds: Double

  init(_ words: some Sequence<String>) throws {
    filling = try Filling(
      words, Self.name, entries: [1_000, 10_000, 100_000, 1_000_000, 10_000_000],
      options: ["--seconds"])
    seconds = try filling.arguments.positiveNumber("--seconds", default: 60)
    guard seconds <= 1e6 else { throw Failure("--seconds must be at most 1000000") }
  }

  func run() throws -> Bool {
    var results = try Results(path: filling.json)
    let subjects = filling.subjects(&results)
    let progress = Progress()
    defer { progress.finish() }
    for (implementation, _) in subjects { progress.expect(1, of: implementation.name) }
    var table = Table([
      "implementation", "entries", "ns/insert", "CPU ns", "p50", "p99.9", "slowest", "> 100 us",
    ])
    var stalls: (curve: LatencyCurve, after: String)?
    for subject in subjects {
      let implementation = subject.0
      let reply = try progress.unit(of: implementation.name) {
        try filling.growth(of: subject, seconds: seconds)
      }
      for step in reply.steps ?? [] {
        let (row, cells) = Self.describe(step, of: implementation, filling)
        results.rows.append(row)
        table.add(cells)
      }
      // Programs in other languages do not measure this.
      if reply.stalls != nil { stalls = (Self.stalls(reply), implementation.title) }
      if let reason = reply.note {
        results.skip("\(implementation.name) \(reason)")
      }
    }
    if let stalls {
      table.add([
        "(doing nothing, after \(stalls.after))", "", "", "", "", "",
        duration(stalls.curve.maximum), String(stalls.curve.count(above: Self.slow)),
      ])
    }
    progress.finish()
    try results.publish(table.markdown, filling.remark)
    return true
  }

  /// The machine's pauses in a loop that does nothing, right after the insertions and for as long.
  static func stalls(_ reply: ChildReply) -> LatencyCurve {
    var curve = LatencyCurve()
    curve.add(reply.stalls ?? [])
    return curve
  }

  /// The row and the line of the table for one step.
  static func describe(
    _ step: GrowthStep, of implementation: Implementation, _ filling: Filling
  ) -> (row: Row, cells: [String]) {
    var curve = LatencyCurve()
    curve.add(step.histogram)
    let percentiles = Row.Percentiles(curve)
    let slow = curve.count(above: slow)
    var row = filling.row(name, implementation, step.entries)
    row.capacity = filling.entries.last
    row.operations = step.operations
    row.nsPerOp = step.wallNs / Double(step.operations)
    row.cpuNsPerOp = step.cpuNs / Double(step.operations)
    row.mops = 1e3 * Double(step.operations) / step.wallNs
    row.percentiles = percentiles
    row.details = [("insertionsAbove100us", JSON(slow))]
    return (
      row,
      [
        implementation.title, String(step.entries), fixed(row.nsPerOp!, 1),
        fixed(row.cpuNsPerOp!, 1), duration(percentiles.p50), duration(percentiles.p999),
        duration(percentiles.max), String(slow),
      ]
    )
  }
}
