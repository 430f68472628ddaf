// SPDX-License-Identifier: Apache-2.0

/// What became of a value handed to `insert(_:forKey:cost:)`.
public enum InsertionOutcome: Sendable, Hashable {
  /// It is stored under a key that had no value.
  case inserted
  /// It is stored in place of an earlier value.
  case replaced
  /// It is not stored, since its cost alone exceeds the total cost limit. The earlier value of its
  /// key, now out of date, is gone; all other entries stay.
  case tooCostly
  /// It is not stored, since there is no memory for it. Everything stored before is still there.
  case outOfMemory

  /// Whether the value is stored.
  public var isStored: Bool { self == .inserted || self == .replaced }
}
