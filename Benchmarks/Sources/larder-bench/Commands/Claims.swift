// SPDX-License-Identifier: Apache-2.0

/// `larder-bench claims`: every bar that Larder sets itself, measured in one run.
struct Claims: Command {
  static let name = "claims"
  static let summary = "every ratio that Larder promises, with its bar"
  static let help = """
    Usage: larder-bench claims [options]

    Measures every speed and memory ratio that Larder claims and prints one line for each: the bar,
    the ratio measured, and whether it holds. Exit status 1 when one does not. Bars on more than one
    thread are meant for an otherwise idle machine.

      --only NAME[,...]      some groups: \(ClaimGroup.all.map(\.name).joined(separator: ", "))
    \(Method.help)
      --json FILE            also write all measurements there
    """

  private let groups: [ClaimGroup]
  private let method: Method
  private let json: String?

  init(_ words: some Sequence<String>) throws {
    let arguments = try Method.arguments(words, of: Self.name, options: ["--only", "--json"])
    method = try Method(arguments)
    json = arguments.text("--json")
    let names = ClaimGroup.all.map(\.name)
    groups = try arguments.list("--only", default: names).map { name in
      guard let group = ClaimGroup.all.first(where: { $0.name == name }) else {
        let list = names.joined(separator: ", ")
        throw Failure("unknown group of claims '\(name)'; there are \(list)")
      }
      return group
    }
  }

  func run() throws -> Bool {
    var results = try Results(path: json)
    let progress = Progress()
    defer { progress.finish() }
    for group in groups { progress.expect(1, of: "claims, \(group.name)") }
    var table = Table(
      ["claim", "measured", "bar", "ratio", "holds"], textColumns: ["measured", "bar", "holds"])
    var failed = 0
    for group in groups {
      let claims = try progress.unit(of: "claims, \(group.name)") {
        try group.measure(&results, method, Progress(isSilent: true))
      }
      for claim in claims {
        table.add([claim.text, claim.measured, claim.bar, claim.ratio, claim.verdict.rawValue])
        if claim.verdict != .yes { failed += 1 }
      }
    }
    progress.finish()
    try results.publish(table.markdown)
    _ = results.complainAboutSpread(method)
    if failed > 0 { note("\(failed) claims do not hold in this run") }
    return failed == 0
  }
}

/// One line: the promise, the measurement, and whether it holds.
struct Claim {
  enum Verdict: String {
    case yes, no
    /// The repetitions differ too much for a verdict.
    case refused
  }

  let text: String
  let measured: String
  let bar: String
  let ratio: String
  let verdict: Verdict
}
