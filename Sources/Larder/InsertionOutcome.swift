// SPDX-License-Identifier: Apache-2.0
public import CLarder

/// What became of a value handed to `insert(_:forKey:cost:)`.
public enum InsertionOutcome: Sendable, Hashable {
  /// It is stored under a key that had no value.
  case inserted
  /// It is stored in place of an earlier value.
  case replaced
  /// It is not stored, since its cost alone exceeds the total cost limit. The earlier value of its
  /// key, now out of date, is gone; all other entries stay.
  case tooCostly
  /// It is not stored, since there is no memory for it. What is stored stays, but for entries
  /// evicted to make room before the memory ran out; with several shards, the earlier value of the
  /// key may be among them.
  case outOfMemory

  /// Whether the value is stored.
  public var isStored: Bool { self == .inserted || self == .replaced }
}

extension InsertionOutcome {
  @inlinable
  init(_ result: lrd_result) {
    switch result {
    case LRD_INSERTED: self = .inserted
    case LRD_REPLACED: self = .replaced
    case LRD_TOO_COSTLY: self = .tooCostly
    default: self = .outOfMemory
    }
  }
}
