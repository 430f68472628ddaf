// SPDX-License-Identifier: Apache-2.0

/// One line of the table of claims: what was promised, what was measured, and whether it holds.
struct Claim {
  let text: String
  let measured: String
  let bar: String
  let holds: Bool
  var ratios = ["", "", ""]  // CPU time, CPU time of the fastest repetitions, wall time

  static let header = [
    "claim", "measured", "CPU ratio", "of minima", "wall ratio", "bar", "holds",
  ]
  static let textColumns: Set<String> = ["measured", "bar", "holds"]
  var row: [String] { [text, measured] + ratios + [bar, holds ? "yes" : "no"] }
}

extension Claim {
  /// `subject` takes at most `bar` times the time of `rival`. Judged by the medians of CPU time:
  /// on one thread it is the same work with less of the neighbours' noise.
  init(_ text: String, _ subject: Series, against rival: Series, atMost bar: Double) {
    let ratio = subject.medianCPU / rival.medianCPU
    self.init(
      text: text,
      measured: "\(fixed(subject.medianCPU, 1)) ns against \(fixed(rival.medianCPU, 1)) ns",
      bar: "<= \(fixed(bar, 2))", holds: ratio <= bar,
      ratios: [
        ratio, subject.minimumCPU / rival.minimumCPU, subject.medianWall / rival.medianWall,
      ].map { fixed($0, 3) })
  }

  /// `subject` does at least `bar` times as many operations as `rival` in the same wall time.
  /// The ratios are of throughput, so that more is better, unlike in the other initializer.
  init(_ text: String, throughputOf subject: Series, over rival: Series, atLeast bar: Double) {
    let ratio = rival.medianWall / subject.medianWall
    let rates = [subject, rival].map { fixed(1e3 / $0.medianWall, 2) + " Mops/s" }
    self.init(
      text: text, measured: "\(rates[0]) against \(rates[1])",
      bar: ">= \(fixed(bar, 2)) wall", holds: ratio >= bar,
      ratios: [
        rival.medianCPU / subject.medianCPU, rival.minimumCPU / subject.minimumCPU, ratio,
      ].map { fixed($0, 3) })
  }
}

/// What every group of claims is measured with.
struct ClaimContext {
  let progress: Progress
  let rounds: Int
  let clock: TickClock

  func expectRounds(of labels: [String]) {
    for label in labels { progress.expect(rounds + 1, of: label) }
  }
}

/// Claims that share one set-up.
protocol ClaimGroup: Sendable {
  /// The name given to `--only`.
  var name: String { get }
  /// Tells the progress line what `measure` will do.
  func announce(_ context: ClaimContext)
  func measure(_ context: ClaimContext) throws -> [Claim]
}
