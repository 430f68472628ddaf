// SPDX-License-Identifier: Apache-2.0

/// A `Dictionary` under a lock, which evicts nothing: the least a shared cache can cost, and the
/// hit ratio that unlimited memory would buy.
final class DictionaryCache<Key, Value, Lock>: Rival
where
  Key: Hashable & Sendable, Value: Sendable,
  Lock: Guard & ~Copyable, Lock.State == [Key: Value]
{
  private let entries: Lock

  init(capacity: Int) { entries = Lock([:]) }

  @inline(__always)
  func get(_ key: Key) -> Value? { entries.withLock { $0[key] } }

  @inline(__always)
  func put(_ value: Value, for key: Key) { entries.withLock { $0[key] = value } }
}
