// SPDX-License-Identifier: Apache-2.0
import Larder

/// An implementation to measure.
///
/// The same generic loops (Steps.swift) drive every implementation, and the compiler specialises
/// them for each. So no implementation pays for dynamic dispatch that another avoids.
protocol Rival<Key, Value>: Sendable {
  associatedtype Key: RequestKey
  associatedtype Value: Measurable

  init(_ limits: Limits)

  /// Looks `key` up as the implementation's users do, and reads a number from the value found.
  func read(_ key: Key) -> UInt64?
  func put(_ value: Value, for key: Key)
  /// Like `put`, with the cost of the entry for implementations that use it.
  func put(_ value: Value, for key: Key, cost: Int)
  /// Returns once the cache has done what it put off.
  func settle()
  /// Of what has left, the part that did so by time; `nil` if nobody counts.
  var expiredShare: Double? { get }
}

extension Rival {
  @inline(__always)
  func put(_ value: Value, for key: Key, cost: Int) { put(value, for: key) }

  func settle() {}

  var expiredShare: Double? { nil }
}

/// The settings of a cache.
struct Limits {
  var capacity: Int  // entries; 0 for no limit
  var costLimit: Int  // 0 for no limit
  var policy: EvictionPolicy
  var shards: Int?
  var loadTime = 0  // of a cache that loads, in microseconds
  var lifetime = 1e18  // the mean where entries expire, in nanoseconds
}

/// A key as requests bring it.
protocol RequestKey: Hashable, Sendable, ObjectKey {
  /// The key with this number. Strings are new instances each time, as if parsed from a request.
  init(number: UInt64)
}

extension UInt64: RequestKey {
  init(number: UInt64) { self = number }
}

extension String: RequestKey {
  /// 22 bytes, too long to be kept inside a Swift `String` or a C++ `std::string`: "user:" and the
  /// number in 17 hexadecimal digits.
  init(number: UInt64) {
    self.init(unsafeUninitializedCapacity: 22) { bytes in
      _ = bytes.initialize(from: "user:0".utf8)
      for place in 0..<16 {
        let digit = UInt8(truncatingIfNeeded: number >> UInt64(60 - 4 * place)) & 15
        bytes[6 + place] = digit < 10 ? 48 + digit : 87 + digit
      }
      return 22
    }
  }
}

/// A value that can be made for a request, and from which a number can be read so that the
/// optimizer drops no lookup.
protocol Measurable: Sendable, ObjectValue {
  init(_ number: UInt64)
  var number: UInt64 { get }
}

extension UInt64: Measurable {
  var number: UInt64 { self }
}

/// A reference-counted value with 64 bytes of its own, 80 with Swift's object header.
final class Payload: Measurable {
  let number: UInt64
  let rest: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)

  init(_ number: UInt64) {
    self.number = number
    rest = (number, number, number, number, number, number, number)
  }
}
