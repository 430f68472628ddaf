// SPDX-License-Identifier: Apache-2.0

/// `larder-bench claims`: every ratio of time or memory that Larder promises, measured in one run
/// on one machine.
struct Claims {
  static let help = """
    Usage: larder-bench claims [options]

    Measures every speed and memory ratio that Larder claims and prints one table.

      --only NAME[,...]   some groups: \(groups.map(\.name).joined(separator: ", "))
      --samples N         timed repetitions of each contender (default 9)
      --help              this text
    """

  private static let groups: [any ClaimGroup] = [
    SmallHitClaims(), LargeHitClaims(), ThreadClaims(), ChurnClaims(), MemoryClaim(),
  ]

  private let groups: [any ClaimGroup]
  private let samples: Int

  init(_ words: some Sequence<String>) throws {
    let arguments = try Arguments(words, options: ["--only", "--samples"])
    if let operand = arguments.operands.first {
      throw Failure("claims takes no operand, but there is '\(operand)'")
    }
    samples = try arguments.positiveInteger("--samples", default: 9)
    groups = try arguments.list("--only", default: Self.groups.map(\.name)).map { name in
      guard let group = Self.groups.first(where: { $0.name == name }) else {
        let names = Self.groups.map(\.name).joined(separator: ", ")
        throw Failure("unknown group of claims '\(name)'; there are \(names)")
      }
      return group
    }
  }

  func run() throws {
    let context = ClaimContext(progress: Progress(), rounds: samples, clock: TickClock())
    defer { context.progress.finish() }
    for group in groups { group.announce(context) }
    var table = Table(Claim.header, textColumns: Claim.textColumns)
    for group in groups {
      for claim in try group.measure(context) { table.add(claim.row) }
    }
    context.progress.finish()
    print(table.markdown)
    writeToStandardError(
      """
      Medians, samples of each: \(samples); the timer's own \
      \(fixed(context.clock.overheadNanoseconds, 1)) ns are subtracted from percentiles.
      Locks and calls in the compiled hit path: see Benchmarks/check-hit-path.

      """)
  }
}
