// SPDX-License-Identifier: Apache-2.0
import CLarder

/// When the entries of a cache expire.
///
///     let prices = Cache<String, Price>(countLimit: 10_000, expiration: .afterWrite(.seconds(30)))
///     let sessions = Cache<ID, Session>(expiration: .afterAccess(.seconds(1_800)))
///     let tokens = Cache<ID, Token>(
///       expiration: .init(afterWrite: .seconds(3_600), afterAccess: .seconds(300), jitter: 0.1))
///
/// An entry expires at the earlier of its deadlines, and is then as good as removed: no call finds
/// it any more. <doc:Expiring> tells when its memory goes, and all else about time.
///
/// A lifetime of zero or less means that nothing is stored. One of more than 100 years never ends.
public struct Expiration: Sendable, Hashable {
  /// How long an entry lives after it was stored or replaced; `nil` for any time. An entry that was
  /// given a lifetime of its own has that instead.
  public let afterWrite: Duration?

  /// How long an entry lives after it was last used; `nil` for any time. Lookups and writes use an
  /// entry; ``Cache/peek(forKey:)``, ``Cache/contains(_:)``, statistics and copies do not.
  ///
  /// Lookups may take note of a use only when the deadline moves by more than a 64th of this time,
  /// and ``jitter``. So an entry may expire earlier by that much, never later.
  public let afterAccess: Duration?

  /// By how much both lifetimes are shortened at most, as a fraction. Each entry has a fraction of
  /// its own, all equally likely, so that entries stored together do not expire together. Lifetimes
  /// that entries were given are not shortened.
  public let jitter: Double

  /// Entries do not expire, except those that are given a lifetime of their own.
  public static let never = Expiration()

  /// Combines lifetimes: the earlier deadline counts.
  ///
  /// - Parameters:
  ///   - afterWrite: How long an entry lives after it was stored or replaced; `nil` for any time.
  ///   - afterAccess: How long an entry lives after it was last used; `nil` for any time.
  ///   - jitter: By how much both are shortened at most, as a fraction. Must not be negative, nor
  ///     above 1, nor NaN.
  ///   - file: The file of the call, for the message of a trap.
  ///   - line: The line of the call, for the message of a trap.
  public init(
    afterWrite: Duration? = nil, afterAccess: Duration? = nil, jitter: Double = 0,
    file: StaticString = #fileID, line: UInt = #line
  ) {
    require(!jitter.isNaN, "jitter must be a number", file: file, line: line)
    require(jitter >= 0, "jitter must not be negative", file: file, line: line)
    require(jitter <= 1, "jitter must not be above 1", file: file, line: line)
    self.afterWrite = afterWrite
    self.afterAccess = afterAccess
    self.jitter = jitter
  }

  /// Entries live for a time after they were stored or replaced.
  ///
  /// - Parameters:
  ///   - lifetime: How long.
  ///   - jitter: By how much that is shortened at most, as a fraction. Must not be negative, nor
  ///     above 1, nor NaN.
  ///   - file: The file of the call, for the message of a trap.
  ///   - line: The line of the call, for the message of a trap.
  public static func afterWrite(
    _ lifetime: Duration, jitter: Double = 0, file: StaticString = #fileID, line: UInt = #line
  ) -> Expiration {
    Expiration(afterWrite: lifetime, jitter: jitter, file: file, line: line)
  }

  /// Entries live for a time after they were last used. For a jitter, see
  /// ``init(afterWrite:afterAccess:jitter:file:line:)``.
  public static func afterAccess(_ lifetime: Duration) -> Expiration {
    Expiration(afterAccess: lifetime)
  }
}

extension Expiration {
  init(core: lrd_expiration) {
    self.init(
      afterWrite: Duration(lifetime: core.after_write),
      afterAccess: Duration(lifetime: core.after_access), jitter: core.jitter)
  }

  var core: lrd_expiration {
    lrd_expiration(
      after_write: afterWrite?.lifetime ?? .max,
      after_access: afterAccess?.lifetime ?? .max, jitter: jitter)
  }
}

/// The lifetime of an entry that does not go by that of its cache.
@usableFromInline enum OwnLifetime: Equatable {
  /// So many nanoseconds from its publication on.
  case lasting(UInt64)
  /// Up to a deadline of the core, that of the entry whose place it takes. A lifetime that the
  /// cache's function computes comes before it.
  case until(UInt64)
}

extension Duration {
  /// A hundred years. What is longer never ends.
  static var longestLifetime: Duration { .nanoseconds(lrd_lifetime_longest) }

  /// The nanoseconds of a lifetime as the core counts them: 0 for none, `UInt64.max` for one that
  /// never ends.
  @usableFromInline var lifetime: UInt64 {
    if self <= .zero { return 0 }
    return self > .longestLifetime ? .max : Swift.max(1, nanoseconds)
  }

  /// The lifetime of so many nanoseconds; `nil` if it never ends.
  init?(lifetime: UInt64) {
    if lifetime == .max { return nil }
    self = .nanoseconds(Int64(clamping: lifetime))
  }

  /// The whole nanoseconds of a time that is not negative, at most `Int64.max`.
  var nanoseconds: UInt64 {
    if self >= .nanoseconds(Int64.max) { return UInt64(Int64.max) }
    return UInt64(components.seconds) * 1_000_000_000
      + UInt64(components.attoseconds / 1_000_000_000)
  }
}
