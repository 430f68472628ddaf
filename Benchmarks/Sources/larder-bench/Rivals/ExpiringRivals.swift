// SPDX-License-Identifier: Apache-2.0
import CBench
import Foundation
import Larder
import Synchronization

/// Lifetimes to give to entries: random ones of an exponential distribution, drawn beforehand.
struct Lifetimes {
  private let nanoseconds: [UInt64]
  private static let count: UInt64 = 1 << 12

  init(mean: Double) {
    var generator = SeededGenerator(seed: 7)
    nanoseconds = (0..<Self.count).map { _ in
      1 + UInt64(-log(Double.random(in: 1e-9...1, using: &generator)) * mean)
    }
  }

  @inline(__always)
  subscript(number: UInt64) -> UInt64 {
    nanoseconds[Int(truncatingIfNeeded: scattered(number) & (Self.count - 1))]
  }
}

/// Larder with `insert(_:forKey:expiresAfter:)`.
struct LarderExpiring<Key: RequestKey, Value: Measurable>: Rival {
  private let cache: Cache<Key, Value>
  private let lifetimes: Lifetimes

  init(_ limits: Limits) {
    cache = Cache(limits)
    lifetimes = Lifetimes(mean: limits.lifetime)
  }

  @inline(__always)
  func read(_ key: Key) -> UInt64? { cache.value(forKey: key)?.number }

  @inline(__always)
  func put(_ value: Value, for key: Key) {
    let lifetime = lifetimes[value.number]
    cache.insert(value, forKey: key, expiresAfter: .nanoseconds(Int64(lifetime)))
  }

  var expiredShare: Double? {
    cache.removeExpired()
    let counts = cache.statistics
    return Double(counts.expirations) / Double(max(1, counts.expirations + counts.evictions))
  }
}

/// ``IndexLRU`` whose lookups compare a date: what is too old is not found, and stays until it is
/// replaced or its turn comes.
final class DatedLRU<Key, Value, Lock>: Rival
where
  Key: RequestKey, Value: Measurable,
  Lock: Guard & ~Copyable, Lock.State == IndexList<Key, Dated<Value>>
{
  private let list: Lock
  private let lifetimes: Lifetimes

  init(_ limits: Limits) {
    list = Lock(IndexList(capacity: limits.capacity))
    lifetimes = Lifetimes(mean: limits.lifetime)
  }

  @inline(__always)
  func read(_ key: Key) -> UInt64? {
    guard let dated = list.withLock({ $0.value(for: key) }),
      dated.deadline > lb_clock_ns(CLOCK_MONOTONIC)
    else { return nil }
    return dated.value.number
  }

  @inline(__always)
  func put(_ value: Value, for key: Key) {
    let deadline = lb_clock_ns(CLOCK_MONOTONIC) &+ lifetimes[value.number]
    _ = list.withLock { $0.insert(Dated(value: value, deadline: deadline), for: key) }
  }
}

/// A value and the end of its life, by the monotonic clock.
struct Dated<Value> {
  let value: Value
  let deadline: UInt64
}
