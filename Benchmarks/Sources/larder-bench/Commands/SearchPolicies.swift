// SPDX-License-Identifier: Apache-2.0
import Larder
import PolicyFacts

/// `larder-bench search-policies`: random workloads, and those of them that a policy loses worst.
struct SearchPolicies: Command {
  static let name = "search-policies"
  static let summary = "random workloads on which a policy loses against simpler ones"
  static let help = """
    Usage: larder-bench search-policies [options]

    Draws workloads out of a grammar (stores, loads, scans, loops, sessions, windows that move, rows,
    removals, mixes of them, phases that take turns) and prints those in which the judged policy has
    the smallest share of the hits of its best rival. One thread, integers. A fill is as many stores
    as the cache has room for. Caches below 200 entries get several runs of each case.

      --cases N              workloads to draw (default 10000)
      --seed N               of the search (default 1)
      --case N               only this one, fill by fill
      --limit N[,M]          rooms from N to M entries, or of N; as many between 1 and 10 as between
                             10 and 100 (default 1,10000)
      --fills N              fills of each case (default 10)
      --policy NAME          the judged policy (default \(EvictionPolicy.default.rawValue))
      --rivals NAME[,...]    those it is held against (default \(defaultRivals))
      --shards N             shards of each cache (default: its own choice)
      --worst N              how many of the worst cases to print (default 10)
      --least F              exit status 1 if one has a smaller share than this
      --json FILE            also write the worst cases there

    A case is determined by --seed, --case, --limit, --fills and the first rival, whose stores end
    the fills. What a policy finds may differ from run to run, as the secret of its hashes does.
    """

  private static let defaultRivals = "lru,fifo,s3fifo"

  private let cases: Range<Int>
  private let isSingle: Bool
  private let settings: SearchCase.Settings
  private let worst: Int
  private let least: Double?
  private let json: String?

  init(_ words: some Sequence<String>) throws {
    let arguments = try Arguments(
      words,
      options: [
        "--cases", "--seed", "--case", "--limit", "--fills", "--policy", "--rivals", "--shards",
        "--worst", "--least", "--json",
      ])
    try arguments.refuseOperands(of: Self.name)
    isSingle = arguments.has("--case")
    if isSingle && arguments.has("--cases") {
      throw Failure("--case and --cases exclude each other")
    }
    if let number = try arguments.optionalPositiveInteger("--case") {
      cases = number..<number + 1
    } else {
      cases = 1..<1 + (try arguments.positiveInteger("--cases", default: 10_000))
    }
    let limits = try arguments.list("--limit", default: ["1", "10000"])
      .map { try Arguments.positiveInteger($0, for: "--limit", upTo: 1_000_000) }
    guard limits.count <= 2, limits[0] <= limits[limits.count - 1] else {
      throw Failure("--limit takes one room, or the smallest and the largest one")
    }
    let judged = arguments.text("--policy") ?? EvictionPolicy.default.rawValue
    let rivals = try arguments.list(
      "--rivals", default: Self.defaultRivals.split(separator: ",").map(String.init))
    settings = SearchCase.Settings(
      seed: UInt64(try arguments.positiveInteger("--seed", default: 1)),
      limits: limits[0]...limits[limits.count - 1],
      fills: try arguments.text("--fills").map {
        try Arguments.positiveInteger($0, for: "--fills", upTo: 1_000)
      } ?? 10,
      policies: try ([judged] + rivals).map { try EvictionPolicy.choose($0, hasCosts: false) },
      shards: try arguments.shards())
    worst = try arguments.positiveInteger("--worst", default: 10)
    least = try arguments.has("--least") ? arguments.positiveNumber("--least", default: 1) : nil
    json = arguments.text("--json")
  }

  func run() throws -> Bool {
    var results = try Results(path: json)
    let progress = Progress()
    defer { progress.finish() }
    progress.expect(cases.count, of: "cases")
    let found = cases.map { number in
      progress.unit(of: "cases") { SearchCase(number: number, settings) }
    }
    progress.finish()
    let judged = found.filter { $0.ratio != nil }.sorted { $0.ratio! < $1.ratio! }
    let shown = isSingle ? found : Array(judged.prefix(worst))
    results.rows = shown.map(row)
    guard !shown.isEmpty else { throw Trouble("none of these cases has anything to hit") }
    try results.publish(
      isSingle ? fills(found[0]).markdown : table(shown).markdown, summary(found, judged))
    guard let least, let ratio = judged.first?.ratio else { return true }
    return ratio >= least
  }

  private func summary(_ found: [SearchCase], _ judged: [SearchCase]) -> String {
    if isSingle { return "case \(found[0].number), seed \(settings.seed): \(found[0].text)" }
    let counts = [0.5, 0.8, 0.9, 0.95, 1].map { bound in
      "\(judged.count { $0.ratio! < bound }) below \(fixed(bound, 2))"
    }
    let ratios = judged.map { $0.ratio! }
    return "\(found.count) cases, seed \(settings.seed); \(judged.count) with at least "
      + "\(SearchCase.leastHits) hits; shares of the best rival's: \(counts.joined(separator: ", "))"
      + (ratios.isEmpty ? "" : ", median \(fixed(median(ratios), 3))")
  }

  private func table(_ cases: [SearchCase]) -> Table {
    var table = Table(
      ["case", "limit", "share"] + settings.policies.map { "\($0.rawValue), %" } + ["workload"],
      textColumns: ["workload"])
    for one in cases {
      table.add(
        ["\(one.number)", "\(one.limit)", fixed(one.ratio ?? .nan, 3)]
          + one.sums.map { fixed(100 * Double($0) / Double(max(1, one.lookups)), 2) } + [one.text])
    }
    return table
  }

  /// The hits of every fill of one case.
  private func fills(_ one: SearchCase) -> Table {
    var table = Table(
      ["policy", "hits", "of \(one.lookups)"] + (1...settings.fills).map(String.init))
    for (policy, hits) in zip(settings.policies, one.hits) {
      let sum = hits.reduce(0, +)
      let share = fixed(100 * Double(sum) / Double(max(1, one.lookups)), 2) + " %"
      table.add([policy.rawValue, "\(sum)", share] + hits.map(String.init))
    }
    return table
  }

  private func row(_ one: SearchCase) -> Row {
    let hits = zip(settings.policies, one.hits).map {
      ($0.rawValue, JSON.list($1.map { JSON($0) }))
    }
    var row = Row(
      workload: Self.name, policy: settings.policies[0].rawValue, implementation: "larder",
      keys: KeyKind.int.rawValue, values: ValueKind.int.rawValue, threads: 1, capacity: one.limit,
      operations: one.lookups, hitRatio: Double(one.sums[0]) / Double(max(1, one.lookups)))
    row.details = [
      ("case", JSON(one.number)), ("seed", JSON(Int(settings.seed))), ("share", JSON(one.ratio)),
      ("drawn", JSON(one.text)), ("lookups", JSON(one.lookups)),
      ("hitsByFill", .object(hits)),
    ]
    return row
  }
}
