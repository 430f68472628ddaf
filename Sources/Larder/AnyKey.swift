// SPDX-License-Identifier: Apache-2.0

/// A key of any type, for caches whose keys have several. `AnyHashable` is not `Sendable`, so it
/// cannot be a key itself.
///
///     let cache = Cache<AnyKey, Image>(countLimit: 100)
///     cache[AnyKey(url)] = image
///     cache[AnyKey(7)] = icon
///
/// Equality and hash are those of `AnyHashable`: numbers of different types are equal if their
/// values are.
public struct AnyKey: Hashable, @unchecked Sendable, CustomStringConvertible {
  // Sendable: it can only hold a value whose type is.
  private let key: AnyHashable

  /// Wraps a key.
  public init(_ key: some Hashable & Sendable) { self.key = AnyHashable(key) }

  /// The key that was wrapped, to be cast.
  public var base: Any { key.base }

  /// The description of the key.
  public var description: String { key.description }
}
