// SPDX-License-Identifier: Apache-2.0
import Larder
import PolicyFacts

/// One line of results. Values that were not measured are nil, and null in JSON.
struct Row {
  var workload: String
  var trace: String?
  var policy: String?
  var implementation: String
  var keys: String?
  var values: String?
  var threads: Int?
  var entries: Int?
  var capacity: Int?
  var operations: Int?
  var nsPerOp: Double?
  var cpuNsPerOp: Double?
  var mops: Double?
  var percentiles: Percentiles?
  var hitRatio: Double?
  var bytesPerEntry: Double?
  /// Which requests of a replay stored.
  var store: String?
  /// By the allocator's own count. In JSON it is one of the details.
  var allocatedBytesPerEntry: Double?
  /// Values without a column of their own; see ``Results``.
  var details: [(String, JSON)] = []

  struct Percentiles {
    static let fractions = [0.5, 0.9, 0.99, 0.999, 0.9999]
    let p50: Double
    let p90: Double
    let p99: Double
    let p999: Double
    let p9999: Double
    let max: Double

    init(_ curve: LatencyCurve) {
      let found = curve.percentiles(Self.fractions)
      (p50, p90, p99, p999, p9999) = (found[0], found[1], found[2], found[3], found[4])
      max = curve.maximum
    }
  }

  var json: JSON {
    .object([
      ("workload", JSON(workload)), ("trace", JSON(trace)), ("policy", JSON(policy)),
      ("implementation", JSON(implementation)), ("keys", JSON(keys)), ("values", JSON(values)),
      ("threads", JSON(threads)), ("entries", JSON(entries)), ("capacity", JSON(capacity)),
      ("operations", JSON(operations)), ("nsPerOp", JSON(nsPerOp)),
      ("cpuNsPerOp", JSON(cpuNsPerOp)), ("mops", JSON(mops)), ("p50", JSON(percentiles?.p50)),
      ("p99", JSON(percentiles?.p99)), ("p999", JSON(percentiles?.p999)),
      ("p9999", JSON(percentiles?.p9999)), ("max", JSON(percentiles?.max)),
      ("hitRatio", JSON(hitRatio)), ("bytesPerEntry", JSON(bytesPerEntry)),
      ("store", JSON(store)),
    ])
  }
}

extension Row {
  /// What is known of every outcome of a comparison. The times of refused ones stay nil.
  init(_ outcome: Outcome) {
    let configuration = outcome.configuration
    self.init(
      workload: configuration.workload, trace: configuration.trace,
      implementation: outcome.implementation.name, keys: configuration.keys.rawValue,
      values: configuration.values.rawValue, threads: configuration.threads,
      entries: configuration.entries, capacity: configuration.capacity,
      operations: outcome.series.operations)
    if outcome.implementation.isLarder {
      policy = configuration.policy ?? EvictionPolicy.default.rawValue
    }
    details = [("spread", JSON(outcome.spread)), ("refused", JSON(outcome.isRefused ? 1 : 0))]
    if let expired = outcome.series.expired { details.append(("expired", JSON(expired))) }
    if let lock = outcome.lock {
      details.append(("lock", JSON(lock)))
      details.append(
        ("byLock", .object(outcome.variants.map { ($0.lock, JSON($0.judged)) })))
    }
    if let curve = outcome.curve {
      guard !outcome.isRefused else { return }
      percentiles = Percentiles(curve)
      let points = zip(LatencyCurve.drawnFractions, curve.percentiles(LatencyCurve.drawnFractions))
      details += [
        ("p90", JSON(percentiles?.p90)),
        ("curve", .list(points.map { .list([JSON($0), JSON($1)]) })),
      ]
    } else if !outcome.isRefused {
      nsPerOp = outcome.series.medianWall
      cpuNsPerOp = outcome.series.medianCPU
      mops = 1e3 / outcome.series.medianWall
      details += [
        ("minNsPerOp", JSON(outcome.series.minimumWall)),
        ("minCpuNsPerOp", JSON(outcome.series.minimumCPU)),
      ]
    }
  }
}
