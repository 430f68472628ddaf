// SPDX-License-Identifier: Apache-2.0

/// An implementation under measurement.
///
/// Every implementation is driven by the same generic loops (Loops.swift), which the compiler
/// specialises for each: no implementation pays for dynamic dispatch that another does not.
protocol Rival<Key, Value>: Sendable {
  associatedtype Key: Hashable & Sendable
  associatedtype Value: Sendable

  /// An empty cache of at most `capacity` entries.
  init(capacity: Int)
  func get(_ key: Key) -> Value?
  func put(_ value: Value, for key: Key)
}

/// The value of most comparisons: one small object, as NSCache can hold nothing else.
final class Payload: Sendable {
  let number: UInt64
  init(_ number: UInt64) { self.number = number }
}

/// An object with 64 bytes of its own, for the churn: 80 bytes with Swift's object header.
final class LargePayload: Sendable {
  let number: UInt64
  let rest: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)
  init(_ number: UInt64) {
    self.number = number
    rest = (number, number, number, number, number, number, number)
  }
}

/// A value the loops can make for a key, and read so that the lookup cannot be optimised away.
protocol Measurable: Sendable {
  init(_ number: UInt64)
  var number: UInt64 { get }
}

extension Payload: Measurable {}
extension LargePayload: Measurable {}
extension UInt64: Measurable {
  var number: UInt64 { self }
}
