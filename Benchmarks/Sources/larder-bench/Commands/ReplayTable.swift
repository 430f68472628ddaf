// SPDX-License-Identifier: Apache-2.0
import Larder
import PolicyFacts

/// The columns that `--full` adds to a replay.
struct ReplayExtras {
  /// nil if they are refused.
  let percentiles: Row.Percentiles?
  let bytesPerEntry: Double

  /// With fewer entries the process's own memory would hide theirs; more might not fit.
  private static let entriesForMemory = 100_000...10_000_000

  static func measure(
    _ comparison: Comparison, _ progress: Progress
  ) throws -> [String: ReplayExtras] {
    var timed = comparison
    timed.rate = 0
    let configuration = comparison.configuration
    let bounds = entriesForMemory
    let entries = min(max(configuration.capacity, bounds.lowerBound), bounds.upperBound)
    var extras: [String: ReplayExtras] = [:]
    for outcome in try timed.measure(progress) {
      let implementation = outcome.implementation
      var settings = configuration.settings(for: implementation)
      settings["operation"] = nil
      settings["capacity"] = String(entries)
      // Entries cost 1 here. Some policies need a limit of costs, which must not evict any of them.
      if configuration.costLimit > 0 {
        settings["cost-limit"] = String(max(configuration.costLimit, 2 * entries))
      }
      let child = try Child(implementation.variants[0], of: implementation, settings)
      try child.ready()
      let resident = try child.perform("memory \(entries)").residentBytes ?? .nan
      extras[implementation.name] = ReplayExtras(
        percentiles: outcome.isRefused ? nil : Row.Percentiles(outcome.curve!),
        bytesPerEntry: resident / Double(entries))
    }
    return extras
  }
}

/// A trace and what its requests do in one mode.
struct ReplayedTrace {
  let trace: Trace
  let mode: StoreMode
  /// The bytes of all requests that look up; nil without sizes, or if all are 0.
  let bytes: Double?

  init(trace: Trace, mode: StoreMode, actions: [Action]?) {
    self.trace = trace
    self.mode = mode
    let sum = trace.sizes.indices.reduce(0.0) { sum, index in
      actions?[index] == .store ? sum : sum + Double(trace.sizes[index])
    }
    bytes = sum > 0 ? sum : nil
  }
}

/// The table of a replay, and its rows.
struct ReplayTable {
  private let namesMode: Bool
  private var table: Table

  init(isFull: Bool, namesMode: Bool) {
    self.namesMode = namesMode
    let more = isFull ? ["p50", "p99", "p99.9", "bytes/entry"] : []
    table = Table(
      [
        "implementation", "policy", "trace", "capacity", "hit ratio", "miss ratio",
        "byte miss ratio", "ns/request", "CPU ns/request",
      ] + more + (namesMode ? ["store"] : []), textColumns: ["policy", "trace", "store"])
  }

  var markdown: String { table.markdown }

  mutating func add(
    _ outcome: Outcome, _ replayed: ReplayedTrace, _ extras: ReplayExtras?,
    limit comparison: Comparison
  ) -> Row {
    let trace = replayed.trace
    let configuration = comparison.configuration
    var row = Row(outcome)
    row.capacity = configuration.costLimit > 0 ? configuration.costLimit : configuration.capacity
    row.hitRatio = outcome.series.hitRatio
    row.store = replayed.mode.rawValue
    row.percentiles = extras?.percentiles
    row.bytesPerEntry = extras?.bytesPerEntry
    var byteMissRatio: Double?
    if let bytes = replayed.bytes, let hitCosts = outcome.series.hitCosts {
      let rounds = Double(outcome.series.operations) / Double(trace.keys.count)
      byteMissRatio = 1 - Double(hitCosts) / (bytes * rounds)
      row.details.append(("byteMissRatio", JSON(byteMissRatio)))
    }
    row.details.append(("unit", JSON(configuration.costLimit > 0 ? "bytes" : "entries")))
    row.details.append(("lookups", JSON(outcome.series.lookups)))
    row.details.append(("uniqueKeys", JSON(trace.uniqueKeys)))
    let counterpart = row.policy.flatMap(EvictionPolicy.init(rawValue:))?.counterpart
    row.details.append(("counterpart", JSON(counterpart)))
    let times = [row.nsPerOp, row.cpuNsPerOp].map { $0.map { fixed($0, 1) } ?? "refused" }
    let more = extras.map {
      ($0.percentiles.map { [$0.p50, $0.p99, $0.p999].map { fixed($0, 0) } }
        ?? [String](repeating: "refused", count: 3)) + [fixed($0.bytesPerEntry, 1)]
    }
    table.add(
      [
        outcome.title, row.policy ?? "", trace.name,
        "\(row.capacity!)\(configuration.costLimit > 0 ? " B" : "")",
        row.hitRatio.map { fixed($0, 4) } ?? "", row.hitRatio.map { fixed(1 - $0, 4) } ?? "",
        byteMissRatio.map { fixed($0, 4) } ?? "",
      ] + times + (more ?? []) + (namesMode ? [replayed.mode.rawValue] : []))
    return row
  }
}
