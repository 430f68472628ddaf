// SPDX-License-Identifier: Apache-2.0

/// An implementation that can be measured, under its name on the command line and in results.
struct Implementation: Sendable {
  /// One way to build it. The hand-written ones exist with each of two locks, because neither lock
  /// is better everywhere. Both are measured, and the better one counts.
  struct Variant {
    let name: String
    let lock: String?
  }

  enum Home {
    case swift
    /// A program in Benchmarks/Rivals, built there with these packages of Debian.
    case elsewhere(packages: String)
  }

  let name: String
  let title: String
  var variants: [Variant]
  var home = Home.swift
  var workloads = Set(Workload.allCases.filter { $0.loadTime == nil && !$0.expires })
  var evicts = true
  /// Whether it can be bounded by the sum of costs.
  var hasCosts = false
  /// The number of repetitions before the first one that counts.
  var warmUps = 1

  init(_ name: String, _ title: String) {
    self.name = name
    self.title = title
    variants = [Variant(name: name, lock: nil)]
  }

  static let all: [Implementation] = [
    with(Implementation("larder", "Larder")) {
      $0.hasCosts = true
      $0.workloads = Set(Workload.allCases)
    },
    with(Implementation("larder-lend", "Larder, withValue")) { $0.hasCosts = true },
    with(Implementation("larder-batch", "Larder, values(forKeys:) by 64")) {
      $0.workloads = [.resident]
    },
    with(Implementation("nscache", "NSCache")) { $0.hasCosts = true },
    with(Implementation("dictionary", "Dictionary (no eviction)")) {
      $0.useBothLocks()
      $0.evicts = false
      $0.workloads = [.resident, .readThrough, .mixed, .hotKey]
    },
    with(Implementation("class-lru", "class-node LRU")) { $0.useBothLocks() },
    with(Implementation("index-lru", "index-linked LRU")) {
      $0.useBothLocks()
      $0.workloads.insert(.expiring)
    },
    with(Implementation("tbb-lru", "TBB concurrent_lru_cache")) {
      $0.home = .elsewhere(packages: "g++ libtbb-dev")
      $0.workloads = [.resident, .readThrough, .churn, .hotKey]
    },
    with(Implementation("urcu", "liburcu rculfhash (no eviction)")) {
      $0.home = .elsewhere(packages: "g++ liburcu-dev")
      $0.evicts = false
      $0.workloads = [.resident, .hotKey]
    },
    with(Implementation("caffeine", "Caffeine (JVM)")) {
      $0.home = .elsewhere(packages: "default-jdk-headless libcaffeine-java")
      $0.hasCosts = true
      $0.workloads = Set(Workload.allCases)
      $0.warmUps = 6
    },
  ]

  static var names: String { all.map(\.name).joined(separator: ", ") }

  init(named name: String) throws {
    guard let known = Self.all.first(where: { $0.name == name }) else {
      throw Failure("unknown implementation '\(name)'; there are \(Self.names)")
    }
    self = known
  }

  var isLarder: Bool { name.hasPrefix("larder") }

  private mutating func useBothLocks() {
    variants = [
      Variant(name: name + "-mutex", lock: "Mutex"),
      Variant(name: name + "-nslock", lock: "NSLock"),
    ]
  }
}

private func with(
  _ implementation: Implementation, _ change: (inout Implementation) -> Void
) -> Implementation {
  var changed = implementation
  change(&changed)
  return changed
}
