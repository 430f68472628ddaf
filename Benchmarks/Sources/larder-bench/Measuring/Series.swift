// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The time of one repetition, in nanoseconds for each operation.
struct Sample {
  let wall: Double
  let cpu: Double
}

/// The repetitions of one contender.
struct Series {
  var samples: [Sample] = []
  var operations = 0
  var lookups = 0
  var hits = 0
  /// The costs of requests that hit; nil if the child does not add them up.
  var hitCosts: Int? = 0
  /// Of what had left the cache after the last repetition, the part that did so by time.
  var expired: Double?

  var medianWall: Double { median(samples.map(\.wall)) }
  var medianCPU: Double { median(samples.map(\.cpu)) }
  var minimumWall: Double { samples.map(\.wall).min()! }
  var minimumCPU: Double { samples.map(\.cpu).min()! }
  /// nil without lookups.
  var hitRatio: Double? { lookups > 0 ? Double(hits) / Double(lookups) : nil }

  /// The width of the middle half of the repetitions, as a share of the median; nil after one.
  func spread(threads: Int) -> Double? {
    let sorted = samples.map { Self.countsCPU(threads) ? $0.cpu : $0.wall }.sorted()
    guard sorted.count > 1 else { return nil }
    return (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / quantile(sorted, 0.5)
  }

  /// The figure by which variants and claims are compared.
  func judged(threads: Int) -> Double { Self.countsCPU(threads) ? medianCPU : medianWall }

  /// If every thread can have a core, processor time counts, because it leaves out the neighbours.
  /// If there are more threads than cores they wait for each other, and only the wall time shows
  /// that.
  private static func countsCPU(_ threads: Int) -> Bool {
    threads <= ProcessInfo.processInfo.activeProcessorCount
  }

  mutating func add(_ reply: ChildReply) throws {
    guard let count = reply.operations, let wall = reply.wallNs, let cpu = reply.cpuNs else {
      throw Trouble("a child did not report what it measured")
    }
    samples.append(Sample(wall: wall / Double(count), cpu: cpu / Double(count)))
    operations += count
    lookups += reply.lookups ?? count
    hits += reply.hits ?? 0
    expired = reply.expired
    hitCosts = hitCosts.flatMap { sum in reply.hitCosts.map { sum + $0 } }
  }
}

func median(_ values: [Double]) -> Double { quantile(values.sorted(), 0.5) }

/// Interpolates between neighbours, like R's default.
private func quantile(_ sorted: [Double], _ fraction: Double) -> Double {
  let place = fraction * Double(sorted.count - 1)
  let below = Int(place)
  let above = min(below + 1, sorted.count - 1)
  return sorted[below] + (place - Double(below)) * (sorted[above] - sorted[below])
}
