// SPDX-License-Identifier: Apache-2.0
import CLarder

/// Why an entry left its cache.
public enum RemovalCause: Sendable, Hashable {
  /// It was evicted during the insertion of another entry: to keep a limit or a group's quota, or
  /// because ``Cache/Options/shouldEvict`` agreed.
  case limit
  /// It was evicted by `trim(toCount:)`, `trim(toCost:)`, `trimCostliest(toCost:)`,
  /// `trimOldest(toCount:)`, `trimOldest(toCost:)`, `trim(toAge:)`, the lowering of a limit, or a
  /// purge to the low-water marks.
  case trimmed
  /// Another value was stored for its key.
  case replaced
  /// It was removed by name, by `removeAll`, by `removeUnreferenced`, or because an insertion for
  /// its key was too costly or had no time to live.
  case removed
  /// Its time was over; see ``Expiration``. Whoever came across it removed it: a call, or the
  /// background thread.
  case expired
  /// It was evicted because memory ran short, or the program went to the background; see
  /// ``Cache/pressure``.
  case pressure
}

extension RemovalCause {
  init(state: UInt8) {
    switch Int(state) {
    case Int(LRD_REMOVED_LIMIT.rawValue): self = .limit
    case Int(LRD_REMOVED_TRIM.rawValue): self = .trimmed
    case Int(LRD_REMOVED_REPLACED.rawValue): self = .replaced
    case Int(LRD_REMOVED_EXPIRED.rawValue): self = .expired
    case Int(LRD_REMOVED_PRESSURE.rawValue): self = .pressure
    default: self = .removed
    }
  }
}
