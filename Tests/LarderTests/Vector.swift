// SPDX-License-Identifier: Apache-2.0
import Foundation
import Larder
import LarderTestSupport

/// One line of the test vectors that all languages share. Tests/CLibrary/vectors.py describes the
/// format.
struct Vector {
  struct Step: CustomStringConvertible {
    var name: String
    var a: Int
    var value: Int
    var cost: Int?
    var status: Int
    var result: Int?
    var listed: [Entry]
    var limits: [Int]
    var gone: [Removal]
    var freed: [Int]
    var count: Int
    var totalCost: Int

    var description: String { "\(name) \(a) value \(value) cost \(cost as Any)" }
  }

  var number: Int
  var policy: EvictionPolicy
  var countLimit: Int
  var costLimit: Int
  /// Of a vector with a clock that is moved by its steps; `nil` in others.
  var expiration: Expiration?
  /// Whether its cache has room for lifetimes from the start.
  var expires = false
  /// The response to memory pressure, of a vector with levels: fractions, and the least count.
  var response: [Double]?
  var keys: [Key]
  var steps: [Step]
  var entries: [Entry]
  var statistics: ModelStatistics
  var late: [Int]

  /// A key of bytes. Different keys may have the same hash.
  struct Key: Hashable {
    let number: Int
    let bytes: [UInt8]
    let group: Int?

    static func == (left: Self, right: Self) -> Bool { left.bytes == right.bytes }
    func hash(into hasher: inout Hasher) {
      if let group { hasher.combine(group) } else { hasher.combine(bytes) }
    }
  }

  struct Malformed: Error {}

  /// A lifetime in the vectors' unit; `nil` for one without end.
  static func time(_ number: Int) -> Duration? {
    number == -2 ? nil : .nanoseconds(1_024_000_000) * number
  }

  /// The vectors in a file of JSON lines, or a sample of them where the work is scaled down.
  static func all(in path: String) throws -> [Vector] {
    let text = try Data(contentsOf: URL(fileURLWithPath: path))
    let lines = text.split(separator: UInt8(ascii: "\n"))
    return try Stress.sample(lines, seed: 1).map { line in
      guard let fields = try JSONSerialization.jsonObject(with: line) as? [String: Any],
        let vector = Vector(fields)
      else { throw Malformed() }
      return vector
    }
  }

  private init?(_ fields: [String: Any]) {
    let policies: [Int: EvictionPolicy] = [1: .lru, 2: .fifo]
    guard let number = fields["number"] as? Int, let policy = fields["policy"] as? Int,
      let policy = policies[policy], let collide = fields["collide"] as? Int,
      let countLimit = fields["count_limit"] as? Int, let costLimit = fields["cost_limit"] as? Int,
      let keys = fields["keys"] as? [String], let steps = fields["steps"] as? [[Any]],
      let entries = fields["entries"] as? [[Int]],
      let counters = fields["statistics"] as? [Int], counters.count == 10,
      let late = fields["late"] as? [Int]
    else { return nil }
    self.number = number
    self.policy = policy
    self.countLimit = countLimit
    self.costLimit = costLimit
    if let afterWrite = fields["after_write"] as? Int,
      let afterAccess = fields["after_access"] as? Int
    {
      expires = fields["expires"] as? Int == 1
      expiration = Expiration(
        afterWrite: afterWrite == 0 ? nil : Self.time(afterWrite),
        afterAccess: afterAccess == 0 ? nil : Self.time(afterAccess))
    }
    response = fields["response"] as? [Double]
    self.keys = keys.enumerated().map { index, digits in
      Key(number: index, bytes: Self.bytes(digits), group: collide > 0 ? index % collide : nil)
    }
    self.steps = steps.compactMap(Step.init)
    if self.steps.count != steps.count { return nil }
    self.entries = entries.map(Entry.init)
    statistics = ModelStatistics(counters)
    self.late = late
  }

  private static func bytes(_ digits: String) -> [UInt8] {
    let digits = Array(digits)
    return stride(from: 0, to: digits.count, by: 2).map {
      UInt8(String(digits[$0...$0 + 1]), radix: 16)!
    }
  }
}

extension Vector.Step {
  fileprivate init?(_ fields: [Any]) {
    guard fields.count == 10, let name = fields[0] as? String, let a = fields[1] as? Int,
      let value = fields[2] as? Int, let cost = fields[3] as? Int,
      let status = fields[4] as? Int, let gone = fields[6] as? [[Int]],
      let freed = fields[7] as? [Int], let count = fields[8] as? Int,
      let totalCost = fields[9] as? Int
    else { return nil }
    var listed = fields[5] as? [[Int]]
    guard let result = fields[5] as? Int ?? listed.map({ _ in -1 }) else { return nil }
    let limits = name == "limits_in_force" ? listed?.first : nil
    if limits != nil { listed = nil }
    self.init(
      name: name, a: a, value: value, cost: cost == -1 ? nil : cost, status: status,
      result: result == -1 ? nil : result, listed: (listed ?? []).map(Entry.init),
      limits: limits ?? [],
      gone: gone.map(Removal.init), freed: freed, count: count, totalCost: totalCost)
  }
}

extension Entry {
  fileprivate init(_ fields: [Int]) {
    self.init(key: fields[0], payload: fields[1], cost: fields[2])
  }
}

extension Removal {
  fileprivate init(_ fields: [Int]) {
    let causes: [RemovalCause] = [.limit, .trimmed, .replaced, .removed, .expired, .pressure]
    self.init(
      key: fields[0], payload: fields[1], cost: fields[2], cause: causes[fields[3] - 1])
  }
}

extension ModelStatistics {
  fileprivate init(_ counters: [Int]) {
    self.init()
    (hits, misses, insertions, replacements) = (counters[0], counters[1], counters[2], counters[3])
    (removals, refusals) = (counters[4], counters[5])
    (limitEvictions, trimEvictions, expirations) = (counters[6], counters[7], counters[8])
  }
}
