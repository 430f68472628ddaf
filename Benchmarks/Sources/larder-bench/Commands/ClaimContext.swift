// SPDX-License-Identifier: Apache-2.0

/// The measurements of a group, and the ways to derive claims from them.
struct ClaimContext {
  let outcomes: [Outcome]

  /// What is compared, and how it is printed.
  private struct Figure {
    let value: (Outcome) -> Double
    let text: (Double) -> String

    static var time: Figure {
      Figure {
        $0.series.medianCPU
      } text: {
        fixed($0, 1) + " ns"
      }
    }
    static var throughput: Figure {
      Figure {
        1e3 / $0.series.medianWall
      } text: {
        fixed($0, 2) + " Mops/s"
      }
    }
    static var tail: Figure {
      Figure {
        $0.curve?.percentiles([0.999])[0] ?? .nan
      } text: {
        duration($0)
      }
    }
  }

  /// Compares the processor time of an operation.
  func time(_ text: String, _ own: String, over other: String, atMost bar: Double) -> Claim {
    claim("\(text): \(own) / \(other)", .time, self[own], self[other], atMost: bar)
  }

  func slowness(_ text: String, of other: String, over own: String, atLeast bar: Double) -> Claim {
    claim("\(text): \(other) / \(own)", .time, self[other], self[own], atLeast: bar)
  }

  /// Compares the operations of all threads in the same wall time.
  func throughput(_ text: String, _ own: String, over other: String, atLeast bar: Double) -> Claim {
    claim(
      "\(text): throughput of \(own) / \(other)", .throughput, self[own], self[other],
      atLeast: bar)
  }

  func tail(_ text: String, _ own: String, over other: String) -> Claim {
    claim("\(text): \(own) / \(other)", .tail, self[own], self[other], atMost: 1)
  }

  /// Compares the processor time of two threads with that of one.
  func scaling(_ text: String, _ name: String, atMost bar: Double) -> Claim {
    claim("\(text): 2 threads / 1 thread", .time, self[name, 2], self[name, 1], atMost: bar)
  }

  /// The result of `name` with this number of threads, or with any number.
  private subscript(name: String, threads: Int? = nil) -> Outcome {
    outcomes.first { outcome in
      outcome.implementation.name == name
        && (threads == nil || outcome.configuration.threads == threads)
    }!
  }

  private func claim(
    _ text: String, _ figure: Figure, _ first: Outcome, _ second: Outcome,
    atMost most: Double = .infinity, atLeast least: Double = 0
  ) -> Claim {
    let values = [first, second].map(figure.value)
    let ratio = values[0] / values[1]
    let isRefused = first.isRefused || second.isRefused
    let lock = [first.lock, second.lock].compactMap { $0 }.map { ", \($0)" }.joined()
    return Claim(
      text: text + lock, measured: values.map(figure.text).joined(separator: " / "),
      bar: least > 0 ? ">= \(fixed(least, 2))" : "<= \(fixed(most, 2))", ratio: fixed(ratio, 3),
      verdict: isRefused ? .refused : ratio <= most && ratio >= least ? .yes : .no)
  }
}
