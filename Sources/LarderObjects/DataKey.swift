// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// Bytes as the key of a `Cache`.
///
///     let answers = Cache<DataKey, Answer>(countLimit: 10_000)
///     answers[DataKey(request)] = answer
///
/// `Data` is `Hashable`, but looks at its first 80 bytes only. A thousand requests that begin alike
/// then have one hash, and each lookup compares them all. This key hashes every byte.
///
/// - Complexity: O(*n*) in the number of bytes, to hash and to compare.
public struct DataKey: Hashable, Sendable {
  /// The bytes.
  public let data: Data

  /// Wraps bytes.
  public init(_ data: Data) { self.data = data }

  public func hash(into hasher: inout Hasher) {
    data.withUnsafeBytes { hasher.combine(bytes: $0) }
  }
}
