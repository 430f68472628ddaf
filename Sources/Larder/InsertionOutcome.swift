// SPDX-License-Identifier: Apache-2.0
public import CLarder

/// What became of a value given to `insert(_:forKey:cost:)`.
public enum InsertionOutcome: Sendable, Hashable {
  /// The value is stored, under a key that had none.
  case inserted
  /// The value is stored in place of an earlier one.
  case replaced
  /// The value is not stored, because its cost alone exceeds the total cost limit. The earlier
  /// value of its key is out of date and was removed. All other entries stay.
  case tooCostly
  /// The value is not stored, because there is no memory for it. All entries stay, the earlier
  /// value of the key among them, except those that were evicted to make room before memory ran
  /// out.
  case outOfMemory
  /// The value is not stored, because its lifetime is zero or less. The earlier value of its key is
  /// out of date and was removed. All other entries stay.
  case expired

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
    case LRD_EXPIRED: self = .expired
    // Out of memory. Or it was given up: then the caller looks at `gaveUp`.
    default: self = .outOfMemory
    }
  }
}
