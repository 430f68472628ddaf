// SPDX-License-Identifier: Apache-2.0
import Larder
import PolicyFacts

/// `larder-bench hits`: what workloads apart from read-through find, fill by fill.
struct Hits: Command {
  static let name = "hits"
  static let summary = "hits of stores, sessions, scans and small caches, fill by fill"
  static let help = """
    Usage: larder-bench hits [options]

    Counts hits of workloads that store without having looked up, from an empty cache on. A fill is
    as many stores as the cache has room for; in a phase of read-through, five times as many
    requests, of which about a fifth is stored.

      --workload NAME[,...]  store-then-read  stores a key, looks up the one a third of a fill older
                             sessions         stores a key once, looks it up five times within a
                                              quarter of a fill
                             stores           only stores; which of the newest half fill remain
                             scan             in a full cache, rounds of hot keys for 80 % of the
                                              room, read through, then a scan of twice the room;
                                              which hot keys remain
                             early-scan       the hot keys fill the cache and are found once; then
                                              the scan
                             tiny             three fills and one more store; which keys remain
                             turning-store-then-read, turning-sessions
                                              these turn into read-through of Zipf keys, room for a
                                              tenth, and back (default: all of them)
      --limit N[,...]        room in entries (default 1000; tiny: 3)
      --fills N              fills of each phase (default 10)
      --turns N              how often a turning workload turns and returns (default 3)
      --rounds N             rounds of the hot keys before the scan (default 10)
      --seed N               of keys and random draws (default 1)
      --samples N            runs, each from an empty cache on (default 3)
      --policy NAME[,...]    Larder's policies: \(EvictionPolicy.list)
                             (default \(EvictionPolicy.default.rawValue)); or all
      --against NAME[,...]   implementations (default larder)
      --threads N[,...]      threads, each taking the next request in turn (default 1)
      --shards N             Larder's shards (default: its own choice)
      --values KIND          object (default), 64 bytes of payload, or int
      --json FILE            also write the results there
    """

  private let usages: [Usage]
  private let limits: [Int]
  private let defaults: UsageScript.Settings
  private let samples: Int
  private let policies: [String]
  private let implementations: [Implementation]
  private let threads: [Int]
  private let shards: Int?
  private let values: ValueKind
  private let json: String?

  init(_ words: some Sequence<String>) throws {
    let arguments = try Arguments(
      words,
      options: [
        "--workload", "--limit", "--fills", "--turns", "--rounds", "--seed", "--samples",
        "--policy", "--against", "--threads", "--shards", "--values", "--json",
      ])
    try arguments.refuseOperands(of: Self.name)
    usages = try arguments.list("--workload", default: Usage.allCases.map(\.rawValue))
      .map(Usage.init)
    limits = try arguments.positiveIntegers("--limit", default: [])
    var defaults = UsageScript.Settings(limit: 0)
    defaults.fills = try arguments.positiveInteger("--fills", default: defaults.fills)
    defaults.turns = try arguments.positiveInteger("--turns", default: defaults.turns)
    defaults.rounds = try arguments.positiveInteger("--rounds", default: defaults.rounds)
    defaults.seed = UInt64(try arguments.positiveInteger("--seed", default: 1))
    self.defaults = defaults
    samples = try arguments.positiveInteger("--samples", default: 3)
    policies = try arguments.policies(hasCosts: false)
    implementations = try arguments.list("--against", default: ["larder"])
      .map(Implementation.init(named:))
    threads = try arguments.threads()
    shards = try arguments.shards()
    values = try arguments.choice("--values", default: .object)
    json = arguments.text("--json")
    for usage in usages {
      for limit in limits.isEmpty ? [usage.defaultLimit] : limits {
        var settings = defaults
        settings.limit = limit
        try Arguments.refuseBeyondMemory(
          entries: limit, numbers: 4 * UsageScript.mostRequests(usage, settings))
      }
    }
  }

  func run() throws -> Bool {
    var results = try Results(path: json)
    let able = implementations.filter { results.acceptsStores(by: $0) }
    let available = RivalPrograms.available(able, &results)
    // Rivals have one policy each. The lock of the hand-written ones does not matter here.
    let subjects: [(Implementation, String?)] = available.flatMap { implementation in
      implementation.isLarder ? policies.map { (implementation, $0) } : [(implementation, nil)]
    }
    let progress = Progress()
    defer { progress.finish() }
    let cases = usages.flatMap { usage in
      (limits.isEmpty ? [usage.defaultLimit] : limits).map { (usage, $0) }
    }
    for (usage, _) in cases {
      progress.expect(threads.count * subjects.count * samples, of: usage.rawValue)
    }
    var table = HitsTable()
    for (usage, limit) in cases {
      var settings = defaults
      settings.limit = limit
      let script = UsageScript(usage, settings)
      let scratch = try ScratchDirectory()
      var configuration = Configuration(
        workload: usage.rawValue, operation: "script", values: values, capacity: limit,
        shards: shards, stream: try NumberFile(script.keys, in: scratch))
      configuration.actions = try NumberFile(script.actions.map(\.rawValue), in: scratch)
      configuration.parts = try NumberFile(
        script.parts.map { UInt64($0.requests.upperBound) }, in: scratch)
      configuration.isReplay = true
      for threads in threads {
        configuration.threads = threads
        var counts: [HitCounts] = []
        for (implementation, policy) in subjects {
          configuration.policy = policy
          let child = try Child(
            implementation.variants[0], of: implementation,
            configuration.settings(for: implementation))
          try child.ready()
          let runs = try (0..<samples).map { _ in
            try progress.unit(of: usage.rawValue) {
              try child.perform("round 0 \(script.keys.count) 0").partHits ?? []
            }
          }
          guard runs.allSatisfy({ $0.count == script.parts.count }) else {
            throw Trouble("\(implementation.name) did not count its hits by parts")
          }
          counts.append(
            HitCounts(
              implementation: implementation, configuration: configuration, parts: script.parts,
              runs: runs))
        }
        for count in counts {
          results.rows += table.add(count, beside: counts.first { $0.isLRU })
        }
      }
    }
    progress.finish()
    try results.publish(
      table.markdown,
      "hits in % of lookups; of lru's: hits as a share of those of Larder's lru, where it is among "
        + "the policies; \(samples) runs, seed \(defaults.seed)")
    return true
  }
}
