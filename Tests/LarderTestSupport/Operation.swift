// SPDX-License-Identifier: Apache-2.0
import Larder

/// One call on a cache, with keys as small numbers.
public enum Operation: Sendable, Hashable {
  case get(Int)
  case getBySubscript(Int)
  case lend(Int)
  case getMany([Int])
  case peek(Int)
  case contains(Int)
  case insert(Int, cost: Int?)
  case update(Int, cost: Int?)
  case setBySubscript(Int)
  case clearBySubscript(Int)
  case remove(Int)
  case removeAll
  case removeOdd
  case trimToCount(Int)
  case trimToCost(Int)
  case setCountLimit(Int)
  case setCostLimit(Int)
  case reclaim

  /// The keys it names, in order.
  public var keys: [Int] {
    switch self {
    case .get(let key), .getBySubscript(let key), .lend(let key), .peek(let key),
      .contains(let key), .insert(let key, _), .update(let key, _), .setBySubscript(let key),
      .clearBySubscript(let key), .remove(let key):
      [key]
    case .getMany(let keys): keys
    default: []
    }
  }
}

/// The answer of a call. Values are identified by their payload.
public enum Answer: Sendable, Hashable {
  case value(Int?)
  case values([Int?])
  case flag(Bool)
  case insertion(InsertionOutcome)
  case nothing
}

/// A call of the removal observer.
public struct Removal: Sendable, Hashable, Comparable {
  public var key: Int
  public var payload: Int
  public var cost: Int
  public var cause: RemovalCause

  public init(key: Int, payload: Int, cost: Int, cause: RemovalCause) {
    self.key = key
    self.payload = payload
    self.cost = cost
    self.cause = cause
  }

  public static func < (left: Self, right: Self) -> Bool {
    (left.key, left.payload) < (right.key, right.payload)
  }
}

/// One entry in a snapshot.
public struct Entry: Sendable, Hashable {
  public var key: Int
  public var payload: Int
  public var cost: Int

  public init(key: Int, payload: Int, cost: Int) {
    self.key = key
    self.payload = payload
    self.cost = cost
  }
}
