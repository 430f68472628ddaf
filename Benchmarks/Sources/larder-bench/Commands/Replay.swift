// SPDX-License-Identifier: Apache-2.0
import Larder
import PolicyFacts

/// `larder-bench replay`: one table of recorded requests through several caches and policies.
struct Replay: Command {
  static let name = "replay"
  static let summary = "recorded requests: miss ratios and times, by policy and size"
  static let help = """
    Usage: larder-bench replay [TRACE ...] [options]

    Replays request traces, *.u64.zst or *.rec12.zst, from an empty cache on. Hit ratios are those of
    lookups. Without TRACE: the trace in Traces/.

      --size F[,...]         capacity as a fraction of the trace's unique keys (default 0.1)
      --entries N[,...]      capacity in entries
      --bytes V[,...]        capacity in bytes, for traces with sizes: a whole number, or a fraction
                             such as 0.1 of the sum of the sizes of all keys
      --store MODE[,...]     which requests store their key:
                             miss    those that missed; all are lookups (default)
                             first   those whose key was never stored, or more than 4 x capacity
                                     requests ago (in bytes: x the entries of mean size that
                                     fit); all others only look up
                             always  one in four, the same ones always; all others only look up
      --policy NAME[,...]    Larder's policies: \(EvictionPolicy.list)
                             (default \(EvictionPolicy.default.rawValue)); or all
      --against NAME[,...]   implementations (default larder alone when there is --policy, otherwise
                             \(SideBySide.defaultNames.joined(separator: ",")))
      --threads N            threads, each taking the next request in turn (default 1)
      --shards N             Larder's shards (default: its own choice)
      --values KIND          object (default), 64 bytes of payload, or int
      --samples N            timed repetitions (default 5); 1 for miss ratios alone
      --full                 also percentiles of the time of a request, and bytes per entry
      --max-spread F         as in throughput (default 0.25)
      --accept-spread        as in throughput
      --json FILE            also write the results there
    """

  private let method: Method
  private let values: ValueKind
  private let threads: Int
  private let shards: Int?
  private let isFull: Bool
  private let implementations: [Implementation]
  private let policyNames: [String]
  private let modes: [StoreMode]
  private let cases: [(trace: Trace, limit: ReplayLimit)]
  private let json: String?

  init(_ words: some Sequence<String>) throws {
    let arguments = try Arguments(
      words,
      options: [
        "--size", "--entries", "--bytes", "--policy", "--against", "--threads", "--shards",
        "--values", "--samples", "--max-spread", "--store", "--json",
      ], flags: Method.flags.union(["--full"]))
    method = try Method(arguments, samples: 5)
    values = try arguments.choice("--values", default: .object)
    let numbers = try arguments.threads()
    guard numbers.count == 1 else { throw Failure("replay takes one number of --threads") }
    threads = numbers[0]
    shards = try arguments.shards()
    isFull = arguments.has("--full")
    policyNames = try arguments.policies(hasCosts: arguments.has("--bytes"))
    implementations = try arguments.list(
      "--against", default: arguments.has("--policy") ? ["larder"] : SideBySide.defaultNames
    ).map(Implementation.init(named:))
    modes = try arguments.list("--store", default: ["miss"]).map(StoreMode.init)
    let limits = try ReplayLimit.all(arguments)
    let paths =
      try arguments.operands.isEmpty
      ? [benchmarksPath("Traces/tw_c52.rec12.zst")]
      : Arguments.different(arguments.operands, for: Self.name)
    var cases: [(Trace, ReplayLimit)] = []
    for path in paths {
      let trace = try Trace(path: path)
      for limit in limits { cases.append((trace, try limit.resolved(for: trace))) }
    }
    self.cases = cases
    json = arguments.text("--json")
  }

  func run() throws -> Bool {
    var results = try Results(path: json)
    let scratch = try ScratchDirectory()
    let able = implementations.filter {
      results.accepts($0, for: .readThrough)
        && (modes.contains(.miss) || results.acceptsStores(by: $0))
    }
    let available = RivalPrograms.available(able, &results)
    let progress = Progress()
    defer { progress.finish() }
    var comparisons: [(comparison: Comparison, replayed: ReplayedTrace)] = []
    var last: (path: String, keys: NumberFile, costs: NumberFile?)?
    for (trace, limit, mode) in cases.flatMap({ one in modes.map { (one.trace, one.limit, $0) } }) {
      if last?.path != trace.path {
        last = (
          trace.path, try NumberFile(trace.keys, in: scratch),
          trace.sizes.isEmpty ? nil : try NumberFile(trace.sizes, in: scratch)
        )
      }
      let actions = mode.actions(trace.keys, capacity: limit.entries(in: trace))
      let actionFile = try actions.map { try NumberFile($0.map(\.rawValue), in: scratch) }
      let replayed = ReplayedTrace(trace: trace, mode: mode, actions: actions)
      for (index, policy) in policyNames.enumerated() {
        var configuration = Configuration(
          workload: Self.name, operation: actions == nil ? "read-through" : "script", capacity: 0,
          stream: last!.keys)
        limit.apply(to: &configuration)
        configuration.costs = last!.costs
        configuration.actions = actionFile
        configuration.trace = trace.name
        configuration.entries = trace.uniqueKeys
        configuration.policy = policy
        configuration.shards = shards
        configuration.threads = threads
        configuration.values = values
        configuration.isReplay = true
        // Rivals have one policy each, so they are measured once, beside Larder's first policy.
        let able = available.filter { implementation in
          guard implementation.isLarder || index == 0 else { return false }
          guard actions == nil || results.acceptsStores(by: implementation) else { return false }
          if configuration.costLimit == 0 || implementation.hasCosts || !implementation.evicts {
            return true
          }
          results.skip(
            "\(implementation.name) is skipped: it has no costs, and so no limit in bytes")
          return false
        }
        let comparison = Comparison(
          configuration: configuration, implementations: able, method: method)
        comparison.announce(to: progress)
        comparisons.append((comparison, replayed))
      }
    }
    var table = ReplayTable(isFull: isFull, namesMode: modes != [.miss])
    for (comparison, replayed) in comparisons {
      let outcomes = try comparison.measure(progress)
      let extras = isFull ? try ReplayExtras.measure(comparison, progress) : [:]
      for outcome in outcomes {
        results.rows.append(
          table.add(outcome, replayed, extras[outcome.implementation.name], limit: comparison))
      }
    }
    progress.finish()
    try results.publish(table.markdown)
    return !results.complainAboutSpread(method)
  }
}
