// SPDX-License-Identifier: Apache-2.0

/// Claims that are measured together.
struct ClaimGroup: Sendable {
  let name: String
  let measure: @Sendable (inout Results, Method, Progress) throws -> [Claim]

  static let all: [ClaimGroup] = [
    comparison("resident-1m", ["larder", "larder-batch", "dictionary", "nscache"]) {
      [
        $0.time("hit, 1 M resident", "larder", over: "dictionary", atMost: 0.85),
        $0.slowness("hit, 1 M resident", of: "nscache", over: "larder", atLeast: 10),
        $0.time("hit, 1 M resident", "larder-batch", over: "larder", atMost: 0.5),
      ]
    },
    comparison("resident-10k", ["larder", "larder-lend", "dictionary"], entries: 10_000) {
      [
        $0.time("hit, 10 k resident", "larder", over: "dictionary", atMost: 0.4),
        $0.time("hit, 10 k resident", "larder-lend", over: "larder", atMost: 0.7),
      ]
    },
    comparison("strings", ["larder", "dictionary"], keys: .string) {
      [$0.time("hit, 1 M resident, string keys", "larder", over: "dictionary", atMost: 0.7)]
    },
    comparison("read-through", ["larder", "index-lru"], .readThrough) {
      [$0.time("read-through, 100 k of 1 M", "larder", over: "index-lru", atMost: 0.7)]
    },
    comparison("churn", ["larder", "index-lru"], .churn) {
      [$0.time("churn, 100 k full", "larder", over: "index-lru", atMost: 0.8)]
    },
    comparison("churn-tail", ["larder", "index-lru"], .churn, rate: 0) {
      [$0.tail("churn, 100 k full, p99.9", "larder", over: "index-lru")]
    },
    comparison("resident-2", ["larder", "dictionary"], threads: [2]) {
      [$0.time("2 threads: hit, 1 M resident", "larder", over: "dictionary", atMost: 0.35)]
    },
    comparison("read-through-2", ["larder", "index-lru"], .readThrough, threads: [2]) {
      [$0.time("2 threads: read-through", "larder", over: "index-lru", atMost: 0.2)]
    },
    comparison("mixed-2", ["larder", "index-lru"], .mixed, threads: [2]) {
      [$0.time("2 threads: mixed 75/25", "larder", over: "index-lru", atMost: 0.3)]
    },
    comparison("resident-8", ["larder", "index-lru"], threads: [8]) {
      [$0.throughput("8 threads: hit, 1 M resident", "larder", over: "index-lru", atLeast: 3)]
    },
    comparison("hot-key-int", ["larder"], .hotKey, threads: [1, 2], values: .int) {
      [$0.scaling("hot key, UInt64 values", "larder", atMost: 1.1)]
    },
    comparison("hot-key-object", ["larder-lend"], .hotKey, threads: [1, 2]) {
      [$0.scaling("hot key, withValue on objects", "larder-lend", atMost: 1.1)]
    },
    ClaimGroup(name: "growth", measure: growthClaims),
    ClaimGroup(name: "memory", measure: memoryClaims),
  ]

  /// A group that measures one workload. Settings that are not given are those of
  /// `larder-bench throughput`.
  private static func comparison(
    _ name: String, _ implementations: [String], _ workload: Workload = .resident,
    threads: [Int] = [1], keys: KeyKind = .int, values: ValueKind = .object,
    entries: Int = 1_000_000, rate: Double? = nil,
    claims: @escaping @Sendable (ClaimContext) -> [Claim]
  ) -> ClaimGroup {
    ClaimGroup(name: name) { results, method, progress in
      let plan = Plan(
        workloads: [workload],
        implementations: try implementations.map(Implementation.init(named:)), method: method,
        threads: threads, keys: keys, values: values, entries: entries, rate: rate)
      let outcomes = try plan.outcomes(&results, progress)
      results.rows += outcomes.map(Row.init)
      return claims(ClaimContext(outcomes: outcomes))
    }
  }
}
