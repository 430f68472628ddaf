// SPDX-License-Identifier: Apache-2.0
import Larder
import PolicyFacts

/// What `throughput` and `latency` have in common: the options that choose workloads and
/// implementations, and the streams of keys that all of these read.
struct SideBySide {
  static let options: Set<String> = [
    "--workload", "--keys", "--values", "--distribution", "--entries", "--capacity", "--threads",
    "--against", "--policy", "--shards", "--json",
  ]

  static let help = """
      --workload NAME[,...]  resident      lookups of keys that are all there (default)
                             read-through  a lookup, and an insertion when it missed; room for a
                                           tenth of the keys
                             mixed         3 lookups to 1 replacement, all keys there
                             churn         insertions of new keys into a full cache
                             hot-key       lookups of one key
                             load          read-through by a cache that loads, in no time
                             slow-load     the same, and a load takes 1 ms
                             stampede      new keys, each asked for 64 times in a row, 1 ms a load
                             expiring      read-through in new caches; a third of the entries expire
      --keys KIND            int (default) or string, of 22 bytes
      --values KIND          object (default), reference-counted with 64 bytes, or int
      --distribution NAME    zipf (exact, exponent 0.99; default) or uniform
      --entries N            number of different keys (default 1000000)
      --capacity N           room for so many entries (default: --entries, or a tenth of it; in a
                             stampede 1000 at most)
      --threads N[,...]      threads that share one cache (default 1)
      --against NAME[,...]   implementations (default
                             \(defaultNames.joined(separator: ",")))
      --policy NAME          Larder's policy: \(EvictionPolicy.list)
      --shards N             Larder's shards (default: its own choice)
      --json FILE            also write the results there
    """

  static let defaultNames = ["larder", "nscache", "dictionary", "class-lru", "index-lru"]

  let plan: Plan
  let json: String?

  init(_ arguments: Arguments) throws {
    var plan = Plan(
      workloads: try arguments.list("--workload", default: ["resident"]).map(Workload.init),
      implementations: try arguments.list("--against", default: Self.defaultNames)
        .map(Implementation.init(named:)),
      method: try Method(arguments))
    plan.threads = try arguments.threads()
    plan.keys = try arguments.choice("--keys", default: .int)
    plan.values = try arguments.choice("--values", default: .object)
    plan.distribution = try arguments.choice("--distribution", default: .zipf)
    plan.entries = try arguments.positiveInteger("--entries", default: plan.entries)
    plan.capacity = try arguments.optionalPositiveInteger("--capacity")
    if let workload = plan.workloads.first(where: \.holdsAllKeys),
      let capacity = plan.capacity, capacity < plan.entries
    {
      throw Failure(
        "--capacity \(capacity) is less than \(plan.entries) entries, and in \(workload.rawValue) "
          + "all of them are there")
    }
    for workload in plan.workloads { try plan.refuseBeyondMemory(workload) }
    plan.policy = try arguments.text("--policy").map {
      try EvictionPolicy.choose($0, hasCosts: false).rawValue
    }
    plan.shards = try arguments.shards()
    self.plan = plan
    json = arguments.text("--json")
  }
}
