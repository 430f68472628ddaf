// SPDX-License-Identifier: Apache-2.0
import CBench
import Glibc

/// One line on stderr that tells what is being measured and how long the rest will take.
///
/// The work is announced first, as a number of units for each label. The time left is estimated
/// from earlier units of the same label. On a terminal the line is rewritten in place and cleared
/// at the end. Elsewhere (a file, CI) it is an ordinary line every few seconds. It does not disturb
/// the measurement, which happens in other processes while this one waits.
final class Progress {
  private struct Work {
    var left = 0
    var done = 0
    var seconds = 0.0
  }

  private var work: [String: Work] = [:]
  private var lastWritten = 0.0
  private let isTerminal = isatty(STDERR_FILENO) == 1
  private let isSilent: Bool

  init(isSilent: Bool = false) { self.isSilent = isSilent }

  func expect(_ units: Int, of label: String) { work[label, default: Work()].left += units }

  /// Performs one unit of the work announced as `label`.
  func unit<Result>(of label: String, _ body: () throws -> Result) rethrows -> Result {
    try units(1, of: label, body)
  }

  /// Performs several units at once.
  func units<Result>(
    _ count: Int, of label: String, _ body: () throws -> Result
  ) rethrows -> Result {
    show(label)
    let start = now()
    defer {
      var entry = work[label] ?? Work()
      entry.seconds += now() - start
      entry.done += count
      entry.left = max(0, entry.left - count)
      work[label] = entry
    }
    return try body()
  }

  func finish() {
    if isTerminal && !isSilent { writeToStandardError("\r\u{1B}[K") }
  }

  private func show(_ label: String) {
    let time = now()
    if isSilent { return }
    guard lastWritten == 0 || time - lastWritten >= (isTerminal ? 0.1 : 5) else { return }
    lastWritten = time
    let done = work.values.reduce(0) { $0 + $1.done }
    let total = work.values.reduce(done) { $0 + $1.left }
    let left = secondsLeft.map { ", about \(Int($0.rounded(.up))) s left" } ?? ""
    let line = "larder-bench: \(label) (\(done + 1) of \(total)\(left))"
    writeToStandardError(isTerminal ? "\r\u{1B}[K\(line)" : "\(line)\n")
  }

  /// A label not yet tried counts as the mean of all others. nil before anything is known.
  private var secondsLeft: Double? {
    let done = work.values.reduce(0) { $0 + $1.done }
    if done == 0 { return nil }
    let mean = work.values.reduce(0.0) { $0 + $1.seconds } / Double(done)
    return work.values.reduce(0.0) { sum, entry in
      sum + Double(entry.left) * (entry.done > 0 ? entry.seconds / Double(entry.done) : mean)
    }
  }

  private func now() -> Double { Double(lb_clock_ns(CLOCK_MONOTONIC)) / 1e9 }
}
