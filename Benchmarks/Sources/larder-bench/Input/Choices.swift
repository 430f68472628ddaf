// SPDX-License-Identifier: Apache-2.0
import Larder
import PolicyFacts

/// An argument that is one of a few words.
protocol Choice: RawRepresentable<String>, CaseIterable {
  static var what: String { get }
}

extension Choice {
  init(_ word: String) throws {
    guard let known = Self(rawValue: word) else {
      throw Failure("unknown \(Self.what) '\(word)'; there are \(Self.list)")
    }
    self = known
  }

  static var list: String { allCases.map(\.rawValue).joined(separator: ", ") }
}

enum KeyKind: String, Choice {
  case int, string
  static let what = "kind of keys"
}

enum ValueKind: String, Choice {
  case object, int
  static let what = "kind of values"
}

enum Distribution: String, Choice {
  case zipf, uniform
  static let what = "distribution"
}

/// The requests of a measurement.
enum Workload: String, Choice {
  case resident
  case readThrough = "read-through"
  case mixed
  case churn
  case hotKey = "hot-key"
  case load
  case slowLoad = "slow-load"
  case stampede
  case expiring
  static let what = "workload"

  /// The word for one request in the protocol with children.
  var operation: String {
    switch self {
    case .resident, .hotKey: "get"
    case .load, .slowLoad, .stampede: "load"
    case .readThrough: "read-through"
    case .mixed: "mixed"
    case .churn: "put"
    case .expiring: "expiring"
    }
  }

  /// Whether every key that is requested is in the cache.
  var holdsAllKeys: Bool {
    switch self {
    case .resident, .mixed, .hotKey: true
    case .readThrough, .churn, .load, .slowLoad, .stampede, .expiring: false
    }
  }

  /// How long the cache takes to load a value, in microseconds, where it loads.
  var loadTime: Int? {
    switch self {
    case .load: 0
    case .slowLoad, .stampede: 1_000
    case .resident, .readThrough, .mixed, .churn, .hotKey, .expiring: nil
    }
  }

  /// Whether entries expire. Time also passes while others are measured, so every repetition begins
  /// with an empty cache then.
  var expires: Bool { self == .expiring }

  /// The default room, in entries. That of a stampede is small, because each of its keys takes 64
  /// requests, and keys must leave before the stream begins again.
  func defaultCapacity(entries: Int) -> Int {
    let room = holdsAllKeys ? entries : max(1, entries / 10)
    return self == .stampede ? min(room, 1_000) : room
  }
}

extension Arguments {
  /// The policies that --policy names, `all` included; the default without it.
  func policies(hasCosts: Bool) throws -> [String] {
    try Self.different(
      list("--policy", default: [EvictionPolicy.default.rawValue]).flatMap { name in
        name == "all"
          ? EvictionPolicy.allCases.filter { hasCosts || !$0.ordersByCost }.map(\.rawValue)
          : [try EvictionPolicy.choose(name, hasCosts: hasCosts).rawValue]
      }, for: "--policy")
  }
}

extension EvictionPolicy {
  /// The policy named by a word of the command line, for a cache with or without a cost limit.
  static func choose(_ word: String, hasCosts: Bool) throws -> EvictionPolicy {
    guard let known = EvictionPolicy(rawValue: word) else {
      throw Failure("unknown policy '\(word)'; there are \(list)")
    }
    guard hasCosts || !known.ordersByCost else {
      throw Failure("policy '\(word)' needs costs; use it with replay --bytes")
    }
    return known
  }
}
