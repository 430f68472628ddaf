// SPDX-License-Identifier: Apache-2.0
import CLarder

/// Changes that depend on what is stored. `Cache+Changing.swift` says how.
extension Cache {
  /// Changes the value of `key` in place, atomically: no change of another thread is lost.
  ///
  ///     counters.modifyValue(forKey: "visits", default: 0) { $0 += 1 }
  ///
  /// `body` runs without a lock, on a copy, and may use the cache. If the key's value is written,
  /// leaves or is given a lifetime meanwhile, `body` runs again on what is there then. So it should
  /// have no other effects. It must not write its own key: if it does so each time, the program
  /// stops after a thousand runs. If it throws, nothing changes. Counts as a use of the entry, and
  /// as a hit or a miss, each time that `body` runs.
  ///
  /// - Parameters:
  ///   - key: The key whose value to change.
  ///   - defaultValue: The value to begin with if there is none.
  ///   - cost: The cost of the changed value. Must not be negative. If `nil`, the cost function is
  ///     asked; without one the entry keeps its cost, and a new entry gets the default cost. The
  ///     lifetime is what ``Options/lifetime`` returns for the changed value; without that, or if
  ///     it returns `nil`, an entry that was given a lifetime keeps its deadline.
  ///   - file: The file of the call, for the message of a trap.
  ///   - line: The line of the call, for the message of a trap.
  ///   - body: Changes the value.
  /// - Returns: What became of the changed value, as ``insert(_:forKey:cost:file:line:)`` says it.
  /// - Complexity: That of a lookup and an insertion, for each time that `body` runs. Locks one
  ///   shard twice.
  @discardableResult
  public func modifyValue<Failure: Error>(
    forKey key: Key, default defaultValue: @autoclosure () -> Value, cost: Int? = nil,
    file: StaticString = #fileID, line: UInt = #line, _ body: (inout Value) throws(Failure) -> Void
  ) throws(Failure) -> InsertionOutcome {
    require(cost ?? 0 >= 0, "cost must not be negative", file: file, line: line)
    let given = { (_: Value) in cost }
    return try change(key, cost: given, for: Place(file: file, line: line)) {
      (value) throws(Failure) in
      if value == nil { value = defaultValue() }
      try body(&value!)
    }.outcome!
  }

  /// Changes the value of `key` in place, atomically. Returns `nil`, and does not call `body`, if
  /// there is none.
  ///
  /// Otherwise like ``modifyValue(forKey:default:cost:file:line:_:)``.
  @discardableResult
  public func modifyValue<Failure: Error>(
    forKey key: Key, cost: Int? = nil, file: StaticString = #fileID, line: UInt = #line,
    _ body: (inout Value) throws(Failure) -> Void
  ) throws(Failure) -> InsertionOutcome? {
    require(cost ?? 0 >= 0, "cost must not be negative", file: file, line: line)
    let given = { (_: Value) in cost }
    return try change(key, cost: given, for: Place(file: file, line: line)) {
      (value) throws(Failure) in
      if value != nil { try body(&value!) }
    }.outcome
  }

  /// Changes, stores or removes the value of `key`, atomically, and returns what `body` returns.
  ///
  ///     let visits = counters.updateValue(forKey: path) { count in
  ///       count = (count ?? 0) + 1
  ///       return count!
  ///     }
  ///
  /// `body` gets the value, or `nil` if there is none. If it leaves `nil`, the entry is removed.
  /// All else is as for ``modifyValue(forKey:default:cost:file:line:_:)``. What becomes of the new
  /// value is not told: if it is too costly, or there is no memory for it, that leaves what
  /// ``insert(_:forKey:cost:file:line:)`` leaves.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - cost: Tells the cost of the new value. Must not return a negative number. If `nil`, the
  ///     cost is that of ``modifyValue(forKey:default:cost:file:line:_:)``.
  ///   - file: The file of the call, for the message of a trap.
  ///   - line: The line of the call, for the message of a trap.
  ///   - body: Changes the value.
  /// - Complexity: Like ``modifyValue(forKey:default:cost:file:line:_:)``.
  @discardableResult
  public func updateValue<Result, Failure: Error>(
    forKey key: Key, cost: ((Value) -> Int)? = nil,
    file: StaticString = #fileID, line: UInt = #line,
    _ body: (inout Value?) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let given = { (value: Value) in
      let cost = cost?(value)
      require(cost ?? 0 >= 0, "cost must not be negative", file: file, line: line)
      return cost
    }
    let (result, outcome) = try change(
      key, cost: given, removes: true, for: Place(file: file, line: line), body)
    if outcome == nil { forgetExpired(key) }
    return result
  }

  /// Stores `value` for `key` unless there is a value. Returns whether it did, and the value that
  /// is there afterwards; `nil` if the new one is too costly, has no time to live, or finds no
  /// memory. Counts as a use of the value that is there, and as a hit or a miss.
  ///
  /// - Parameters:
  ///   - value: The value to keep.
  ///   - key: The key to keep it under.
  ///   - cost: As for ``insert(_:forKey:cost:file:line:)``. Must not be negative.
  ///   - file: The file of the call, for the message of a trap.
  ///   - line: The line of the call, for the message of a trap.
  /// - Complexity: Like ``insert(_:forKey:cost:file:line:)``.
  @discardableResult
  public func insert(
    _ value: consuming Value, ifAbsentForKey key: Key, cost: Int? = nil,
    file: StaticString = #fileID, line: UInt = #line
  ) -> (inserted: Bool, current: Value?) {
    require(cost ?? 0 >= 0, "cost must not be negative", file: file, line: line)
    var value = Optional(consume value)
    var isFirst = true
    while true {
      // To look again, because another thread has changed the key since, is no other lookup.
      if let current = isFirst ? self.value(forKey: key) : self.current(key) {
        drop(&value)
        return (false, current)
      }
      isFirst = false
      if let outcome = store(value!, key, cost, if: { old in old == nil }) {
        if outcome.isStored { return (true, value.take()) }
        drop(&value)
        return (false, nil)
      }
    }
  }
}
