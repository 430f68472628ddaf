// SPDX-License-Identifier: Apache-2.0
import CLarder

extension Cache {
  /// The value for `key`. A read is atomic, and so is an assignment. A change in place, such as
  /// `cache[key]! += 1`, is a read and then an assignment: other threads may write in between, and
  /// their change is lost. ``modifyValue(forKey:default:cost:file:line:_:)`` is atomic.
  ///
  /// **An assigned value may be refused**, and the assignment cannot say so. A value that alone
  /// costs more than ``totalCostLimit`` is not stored, and the key is empty afterwards.
  /// ``CacheStatistics/refusals`` counts these, and ``insert(_:forKey:cost:file:line:)`` returns
  /// what became of the value.
  ///
  /// **The cost** is what the cost function of the cache returns. Without one, a new value costs 1
  /// if the cache has a total cost limit, and 0 otherwise; a change in place keeps the cost that
  /// the entry had.
  ///
  /// Reading is ``value(forKey:)``. Assigning `nil` removes the entry.
  @inlinable
  public subscript(key: Key) -> Value? {
    get { value(forKey: key) }
    set { assign(consume newValue, key, nil) }
    _modify {
      var value = value(forKey: key)
      let cost = value == nil ? nil : costToKeep(key)
      defer { assign(value.take(), key, cost) }
      yield &value
    }
  }

  @inlinable
  func assign(_ newValue: consuming Value?, _ key: Key, _ cost: Int?) {
    if let value = consume newValue {
      _ = store(consume value, key, cost, replaced: nil)
    } else {
      remove(key, into: nil)
    }
  }

  /// There is no such subscript, because `+=` on it would lose the changes of other threads.
  @available(
    *, unavailable, message: "Use modifyValue(forKey:default:cost:_:), which is atomic; to read, ??"
  )
  public subscript(key: Key, default defaultValue: @autoclosure () -> Value) -> Value {
    get { fatalError() }
    set { fatalError() }
  }

  /// The cost that a change in place by the subscript keeps; `nil` if the cost function decides.
  @usableFromInline @inline(never)
  func costToKeep(_ key: Key) -> Int? {
    if extras?.cost != nil { return nil }
    let hash = hasher.hash(key)
    let shard = lrd_cache_shard(core, hash)
    lrd_shard_enter(core, nil, shard)
    defer { lrd_shard_leave(core, shard) }
    return findLocked(key, hash, shard).map { Int(clamping: lrd_entry_cost($0)) }
  }
}
