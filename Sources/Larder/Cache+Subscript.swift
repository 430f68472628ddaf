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
  /// while a total cost limit is in force, and 0 otherwise; a change in place keeps the cost that
  /// the entry had. It keeps the deadline of an entry that was given a lifetime, too, unless
  /// ``Options/lifetime`` returns another one for the new value.
  ///
  /// Reading is ``value(forKey:)``. Assigning `nil` removes the entry. A change in place that finds
  /// nothing and leaves nothing, such as `lists[key]?.append(1)`, writes nothing.
  @inlinable
  public subscript(key: Key) -> Value? {
    get { value(forKey: key) }
    set { assign(consume newValue, key, Kept()) }
    _modify {
      var value: Value?
      let kept = findToChange(key, into: &value)
      let isAbsent = value == nil
      defer { if !isAbsent || value != nil { assign(value.take(), key, kept) } }
      yield &value
    }
  }

  @inlinable
  func assign(_ newValue: consuming Value?, _ key: Key, _ kept: Kept) {
    if let value = consume newValue {
      if let lifetime = kept.lifetime {
        store(consume value, key, kept.cost, lifetime: lifetime, replaced: nil)
      } else {
        _ = store(consume value, key, kept.cost, replaced: nil)
      }
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

  /// What a change in place keeps of the entry: its cost, unless a function decides, and the
  /// deadline of a lifetime of its own, unless a function names another lifetime.
  @usableFromInline struct Kept: Equatable {
    @usableFromInline var cost: Int?
    @usableFromInline var lifetime: OwnLifetime?

    @usableFromInline init() {}
  }

  /// What a change of this entry keeps. The shard's lock is held.
  func whatToKeep(of entry: StoredEntry) -> Kept {
    var kept = Kept()
    if extras?.cost == nil { kept.cost = Int(clamping: lrd_entry_cost(entry)) }
    var deadline: UInt64 = 0
    if lrd_entry_own_deadline_locked(core, entry, &deadline) {
      kept.lifetime = .until(deadline)
    }
    return kept
  }
}
