// SPDX-License-Identifier: Apache-2.0

/// What a group measured, and the ways in which claims are drawn from it.
struct ClaimContext {
  let outcomes: [Outcome]

  /// What `name` showed with so many threads, or with any number.
  private subscript(name: String, threads: Int? = nil) -> Outcome {
    outcomes.first { outcome in
      outcome.implementation.name == name
        && (threads == nil || outcome.configuration.threads == threads)
    }!
  }

  /// Processor time of an operation.
  func time(_ text: String, _ own: String, over other: String, atMost bar: Double) -> Claim {
    let (own, other) = (self[own], self[other])
    return claim(
      "\(text): \(own.implementation.name) / \(other.implementation.name)", own, other,
      [own, other].map { fixed($0.series.medianCPU, 1) + " ns" },
      own.series.medianCPU / other.series.medianCPU, atMost: bar)
  }

  func slowness(_ text: String, of other: String, over own: String, atLeast bar: Double) -> Claim {
    let (own, other) = (self[own], self[other])
    return claim(
      "\(text): \(other.implementation.name) / \(own.implementation.name)", own, other,
      [other, own].map { fixed($0.series.medianCPU, 1) + " ns" },
      other.series.medianCPU / own.series.medianCPU, atLeast: bar)
  }

  /// Operations of all threads in the same wall time.
  func throughput(_ text: String, _ own: String, over other: String, atLeast bar: Double) -> Claim {
    let (own, other) = (self[own], self[other])
    return claim(
      "\(text): throughput of \(own.implementation.name) / \(other.implementation.name)", own,
      other, [own, other].map { fixed(1e3 / $0.series.medianWall, 2) + " Mops/s" },
      other.series.medianWall / own.series.medianWall, atLeast: bar)
  }

  func tail(_ text: String, _ own: String, over other: String) -> Claim {
    let (own, other) = (self[own], self[other])
    let times = [own, other].map { $0.curve?.percentiles([0.999])[0] ?? .nan }
    return claim(
      "\(text): \(own.implementation.name) / \(other.implementation.name)", own, other,
      times.map(duration), times[0] / times[1], atMost: 1)
  }

  /// Two threads' processor time over that of one.
  func scaling(_ text: String, _ name: String, atMost bar: Double) -> Claim {
    let (two, one) = (self[name, 2], self[name, 1])
    return claim(
      "\(text): 2 threads / 1 thread", two, one,
      [two, one].map { fixed($0.series.medianCPU, 1) + " ns" },
      two.series.medianCPU / one.series.medianCPU, atMost: bar)
  }

  private func claim(
    _ text: String, _ first: Outcome, _ second: Outcome, _ measured: [String], _ ratio: Double,
    atMost most: Double = .infinity, atLeast least: Double = 0
  ) -> Claim {
    let isRefused = first.isRefused || second.isRefused
    let lock = [first.lock, second.lock].compactMap { $0 }.map { ", \($0)" }.joined()
    return Claim(
      text: text + lock, measured: measured.joined(separator: " / "),
      bar: least > 0 ? ">= \(fixed(least, 2))" : "<= \(fixed(most, 2))", ratio: fixed(ratio, 3),
      verdict: isRefused ? .refused : ratio <= most && ratio >= least ? .yes : .no)
  }
}
