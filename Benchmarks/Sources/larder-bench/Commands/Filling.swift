// SPDX-License-Identifier: Apache-2.0
import Larder
import PolicyFacts

/// What `memory` and `growth` have in common: caches that are only filled, each in a process of its
/// own. One variant of each hand-written implementation is enough, because the lock does not matter
/// here.
struct Filling {
  static let help = """
      --keys KIND            int (default) or string
      --values KIND          int (default) or object, 64 bytes of payload
      --against NAME[,...]   implementations (default
                             \(SideBySide.defaultNames.joined(separator: ",")))
      --policy NAME          Larder's policy
      --json FILE            also write the results there
    """

  let entries: [Int]
  let keys: KeyKind
  let values: ValueKind
  let json: String?
  let arguments: Arguments
  private let implementations: [Implementation]
  private let policy: String?

  init(
    _ words: some Sequence<String>, _ command: String, entries defaults: [Int],
    options: Set<String>
  ) throws {
    arguments = try Arguments(
      words,
      options: options.union(
        ["--entries", "--keys", "--values", "--against", "--policy", "--json"]))
    try arguments.refuseOperands(of: command)
    entries = try arguments.positiveIntegers("--entries", default: defaults).sorted()
    try Arguments.refuseBeyondMemory(entries: entries.last ?? 0)
    keys = try arguments.choice("--keys", default: .int)
    values = try arguments.choice("--values", default: .int)
    implementations = try arguments.list("--against", default: SideBySide.defaultNames)
      .map(Implementation.init(named:))
    policy = try arguments.text("--policy").map {
      try EvictionPolicy.choose($0, hasCosts: false).rawValue
    }
    json = arguments.text("--json")
  }

  /// For the line below a table.
  var remark: String { "\(keys.rawValue) keys, \(values.rawValue) values, one thread" }

  func subjects(_ results: inout Results) -> [(Implementation, Implementation.Variant)] {
    let able = implementations.filter { implementation in
      guard implementation.isLarder, implementation.name != "larder" else { return true }
      results.skip("\(implementation.name) is skipped: it is filled as larder is")
      return false
    }
    return RivalPrograms.available(able, &results).map { ($0, $0.variants[0]) }
  }

  /// A process with an empty cache, ready to fill it.
  func child(
    _ subject: (Implementation, Implementation.Variant), capacity: Int
  ) throws -> Child {
    var words = [
      "keys": keys.rawValue, "values": values.rawValue, "capacity": String(capacity),
    ]
    if subject.0.isLarder { words["policy"] = policy }
    let child = try Child(subject.1, of: subject.0, words)
    try child.ready()
    return child
  }

  func growth(
    of subject: (Implementation, Implementation.Variant), seconds: Double
  ) throws -> ChildReply {
    try child(subject, capacity: entries.last ?? 0).perform(
      "growth \(seconds) " + entries.map(String.init).joined(separator: " "))
  }

  func row(_ workload: String, _ implementation: Implementation, _ entries: Int) -> Row {
    Row(
      workload: workload,
      policy: implementation.isLarder ? policy ?? EvictionPolicy.default.rawValue : nil,
      implementation: implementation.name, keys: keys.rawValue, values: values.rawValue,
      threads: 1, entries: entries, capacity: entries)
  }
}
