// SPDX-License-Identifier: Apache-2.0

/// `larder-bench relief`: what critical pressure leaves of a full cache, and how long reads take.
struct Relief: Command {
  static let name = "relief"
  static let summary = "memory that critical pressure leaves, and reads meanwhile"
  static let help = """
    Usage: larder-bench relief [options]

    Fills a cache, reads it on one thread, and reports on another that memory is critical. The cache
    keeps a tenth of its entries. "needed" is a tenth of what the full cache has taken; "at once"
    and "after 2 s" are what the process has then, beside that of an empty cache. Reads are timed
    before the report, until it returns, and in the two seconds after it; both threads run before
    it, too. Keys are hot by Zipf's law and scattered over the memory, or the newest ones are hot.
    Each sample has a process of its own.

      --bytes N              the full cache, in MB (default 200)
      --value-bytes N[,...]  the block of a value; 0: integers in the entries themselves (default
                             0,64,256,1024,4096,8192,14336,20480,65536)
      --hot NAME[,...]       scattered, newest (default both)
      --samples N            samples of each, in turn (default 5)
      --json FILE            also write the results there
    """

  private static let orders = ["scattered", "newest"]
  /// The least that an entry takes: without a value of its own.
  private static let entryBytes = 48

  private let bytes: Int
  private let valueBytes: [Int]
  private let hot: [String]
  private let samples: Int
  private let json: String?

  init(_ words: some Sequence<String>) throws {
    let arguments = try Arguments(
      words, options: ["--bytes", "--value-bytes", "--hot", "--samples", "--json"])
    try arguments.refuseOperands(of: Self.name)
    bytes = try arguments.positiveInteger("--bytes", default: 200)
    samples = try arguments.positiveInteger("--samples", default: 5)
    json = arguments.text("--json")
    valueBytes = try arguments.list(
      "--value-bytes",
      default: ["0", "64", "256", "1024", "4096", "8192", "14336", "20480", "65536"]
    ).map { try $0 == "0" ? 0 : Arguments.positiveInteger($0, for: "--value-bytes") }
    hot = try arguments.list("--hot", default: Self.orders)
    for name in hot where !Self.orders.contains(name) {
      throw Failure("there is no '\(name)' for --hot; there are scattered, newest")
    }
    guard bytes <= 1 << 14 else { throw Failure("--bytes is in MB, at most 16384 of them") }
    for value in valueBytes where value != 0 && !(33...bytes << 14).contains(value) {
      throw Failure("--value-bytes must be 0, or from 33 to a 64th of --bytes, not \(value)")
    }
  }

  private struct Subject {
    let valueBytes: Int
    let hot: String
    var replies: [ReliefReply] = []
    var timer = 0.0
    /// Of the reads before, during and after.
    var curves = [LatencyCurve](repeating: LatencyCurve(), count: 3)
  }

  func run() throws -> Bool {
    var results = try Results(path: json)
    var subjects = valueBytes.flatMap { value in
      hot.map { Subject(valueBytes: value, hot: $0) }
    }
    let progress = Progress()
    defer { progress.finish() }
    for subject in subjects {
      for _ in 0..<samples { progress.expect(1, of: "\(subject.valueBytes) \(subject.hot)") }
    }
    for _ in 0..<samples {
      for index in subjects.indices {
        let of = "\(subjects[index].valueBytes) \(subjects[index].hot)"
        try progress.units(1, of: of) { try sample(&subjects[index]) }
      }
    }
    progress.finish()
    try publish(subjects, &results)
    return true
  }

  private func sample(_ subject: inout Subject) throws {
    let child = try Child(
      "relief",
      [
        "operation": "relieve", "value-bytes": String(subject.valueBytes), "hot": subject.hot,
        "entries": String((bytes << 20) / (subject.valueBytes + Self.entryBytes)),
      ])
    try child.ready()
    let reply = try child.perform("relieve")
    guard let relief = reply.relief, relief.reads.count == subject.curves.count else {
      throw Trouble("a child has not told what was asked")
    }
    subject.timer = reply.timerNs ?? 0
    subject.replies.append(relief)
    for (part, times) in relief.reads.enumerated() { subject.curves[part].add(times) }
  }

  private func publish(_ subjects: [Subject], _ results: inout Results) throws {
    var table = Table(
      [
        "value", "hot", "full, MB", "needed, MB", "at once, MB", "after 2 s, MB", "of needed",
        "report, ms", "p99.9 before", "during", "after", "during of before",
      ], textColumns: ["hot"])
    for subject in subjects {
      let middle = { (part: (ReliefReply) -> Double) in median(subject.replies.map(part)) }
      let times = subject.curves.map { $0.percentiles([0.999])[0] }
      let shown: [String] = zip(times, subject.curves).map { time, curve in
        curve.total > 0 ? fixed(time, 0) : "no reads"
      }
      let memory = [middle(\.full), middle(\.needed), middle(\.atOnce), middle(\.left)]
      let share = middle { $0.left / $0.needed }
      table.add(
        [String(subject.valueBytes), subject.hot] + memory.map { fixed($0 / 1e6, 1) }
          + [fixed(share, 2), fixed(middle(\.nanoseconds) / 1e6, 1)]
          + shown + [subject.curves[1].total > 0 ? fixed(times[1] / times[0], 2) : ""])
      var row = Row(workload: "relief, \(subject.hot)", implementation: "larder")
      row.entries = (bytes << 20) / (subject.valueBytes + Self.entryBytes)
      row.operations = Int(subject.curves[1].total)
      row.percentiles = Row.Percentiles(subject.curves[1])
      row.details = [
        ("valueBytes", JSON(subject.valueBytes)), ("full", JSON(memory[0])),
        ("needed", JSON(memory[1])), ("atOnce", JSON(memory[2])), ("left", JSON(memory[3])),
        ("reportMs", JSON(middle(\.nanoseconds) / 1e6)), ("p999Before", JSON(times[0])),
        ("p999After", JSON(times[2])),
      ]
      results.rows.append(row)
    }
    try results.publish(
      table.markdown,
      "Medians of \(samples) processes; percentiles are of all their reads, in nanoseconds. The "
        + "timer's own cost, \(fixed(subjects.last?.timer ?? 0, 1)), is subtracted.")
  }
}
