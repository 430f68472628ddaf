// SPDX-License-Identifier: Apache-2.0

/// A `Dictionary` under a lock, which evicts nothing. It shows the least that a shared cache can
/// cost, and the hit ratio that unlimited memory would buy.
final class DictionaryCache<Key, Value, Lock>: Rival
where
  Key: RequestKey, Value: Measurable,
  Lock: Guard & ~Copyable, Lock.State == [Key: Value]
{
  private let entries: Lock

  init(_ limits: Limits) { entries = Lock([:]) }

  @inline(__always)
  func read(_ key: Key) -> UInt64? { entries.withLock { $0[key] }?.number }

  @inline(__always)
  func put(_ value: Value, for key: Key) { entries.withLock { $0[key] = value } }
}
