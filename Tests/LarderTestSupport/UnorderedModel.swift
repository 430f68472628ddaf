// SPDX-License-Identifier: Apache-2.0
import Larder

/// A model for caches whose order is not exact, such as those with several shards. The cache
/// chooses its victims and the observer names them. Everything else is decided here.
public struct UnorderedModel: Sendable {
  public private(set) var entries: [Int: Entry] = [:]
  private var limits: (count: Int, cost: Int)

  public init(countLimit: Int, costLimit: Int) { limits = (countLimit, costLimit) }

  public var totalCost: Int { entries.values.reduce(0) { $0 + $1.cost } }

  /// What contradicts the answer or the removals of one step, or `nil`.
  public mutating func judge(
    _ operation: Operation, _ answer: Answer, _ removals: [Removal], payload: Int
  ) -> String? {
    // The call decides what it removes itself. Everything else that leaves must be a necessary
    // eviction.
    var expected: [Removal] = []
    let right = apply(operation, payload: payload, &expected)
    if answer != right { return "answered \(answer), not \(right)" }
    let evictions = removals.filter { $0.cause == .limit || $0.cause == .trimmed }
    let others = removals.filter { $0.cause != .limit && $0.cause != .trimmed }
    if others.sorted() != expected.sorted() { return "removed \(others), not \(expected)" }
    let (allowed, cause) = bound(after: operation)
    for (index, eviction) in evictions.enumerated() {
      if eviction.cause != cause { return "wrong cause in \(eviction)" }
      if entries.count <= allowed.count && totalCost <= allowed.cost && index == 0 {
        return "needless \(eviction)"
      }
      let entry = entries.removeValue(forKey: eviction.key)
      if entry?.payload != eviction.payload || entry?.cost != eviction.cost {
        return "evicted \(eviction), which it did not hold"
      }
    }
    if entries.count > allowed.count { return "\(entries.count) entries exceed \(allowed.count)" }
    if totalCost > allowed.cost { return "cost \(totalCost) exceeds \(allowed.cost)" }
    return nil
  }

  /// The size that the cache must not exceed after a step, and the cause it may give for evictions.
  private func bound(after operation: Operation) -> ((count: Int, cost: Int), RemovalCause) {
    switch operation {
    case .trimToCount(let count): return ((count, Int.max), .trimmed)
    case .trimToCost(let cost): return ((Int.max, cost), .trimmed)
    default:
      let count = limits.count == 0 ? Int.max : limits.count
      let cost = limits.cost == 0 ? Int.max : limits.cost
      if case .setCountLimit = operation { return ((count, cost), .trimmed) }
      if case .setCostLimit = operation { return ((count, cost), .trimmed) }
      return ((count, cost), .limit)
    }
  }

  private mutating func apply(
    _ operation: Operation, payload: Int, _ removals: inout [Removal]
  ) -> Answer {
    switch operation {
    case .get(let key), .getBySubscript(let key), .lend(let key), .peek(let key):
      return .value(entries[key]?.payload)
    case .getMany(let keys): return .values(keys.map { entries[$0]?.payload })
    case .contains(let key): return .flag(entries[key] != nil)
    case .insert(let key, let cost): return .insertion(put(key, payload, cost, &removals).outcome)
    case .update(let key, let cost): return .value(put(key, payload, cost, &removals).old)
    case .setBySubscript(let key): _ = put(key, payload, nil, &removals)
    case .clearBySubscript(let key): _ = take(key, .removed, &removals)
    case .remove(let key): return .value(take(key, .removed, &removals))
    case .removeAll: for key in entries.keys { _ = take(key, .removed, &removals) }
    case .removeOdd:
      for key in entries.keys where key % 2 == 1 { _ = take(key, .removed, &removals) }
    case .setCountLimit(let limit): limits.count = limit
    case .setCostLimit(let limit): limits.cost = limit
    case .trimToCount, .trimToCost, .reclaim: break
    }
    return .nothing
  }

  private mutating func put(
    _ key: Int, _ payload: Int, _ givenCost: Int?, _ removals: inout [Removal]
  ) -> (outcome: InsertionOutcome, old: Int?) {
    let cost = givenCost ?? (limits.cost > 0 ? 1 : 0)
    if limits.cost > 0 && cost > limits.cost { return (.tooCostly, take(key, .removed, &removals)) }
    let old = take(key, .replaced, &removals)
    entries[key] = Entry(key: key, payload: payload, cost: cost)
    return (old == nil ? .inserted : .replaced, old)
  }

  private mutating func take(
    _ key: Int, _ cause: RemovalCause, _ removals: inout [Removal]
  ) -> Int? {
    guard let entry = entries.removeValue(forKey: key) else { return nil }
    removals.append(Removal(key: key, payload: entry.payload, cost: entry.cost, cause: cause))
    return entry.payload
  }
}
