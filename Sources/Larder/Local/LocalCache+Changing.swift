// SPDX-License-Identifier: Apache-2.0

/// The members of ``Cache`` that look and store in one call.
extension LocalCache {
  /// Returns the values stored for `keys`, in the order of the keys, with `nil` where there is
  /// none, as ``value(forKey:)`` does for one key after the other.
  ///
  /// - Complexity: O(`keys.count`) on average.
  public func values(forKeys keys: [Key]) -> [Value?] { keys.map(value(forKey:)) }

  /// Stores `value` for `key`. Tells what became of it, and which value was there before:
  /// `replaced` receives it, or `nil` if there was none.
  ///
  /// - Complexity: Like ``insert(_:forKey:cost:file:line:)``.
  @discardableResult
  public func insert(
    _ value: Value, forKey key: Key, cost: Int? = nil, replaced: inout Value?,
    file: StaticString = #fileID, line: UInt = #line
  ) -> InsertionOutcome {
    let old = current(key)
    let outcome = insert(value, forKey: key, cost: cost, file: file, line: line)
    replaced = outcome == .outOfMemory && current(key) != nil ? nil : old
    return outcome
  }

  /// Stores `value` for `key` unless there is a value. Returns whether it did, and the value that
  /// is there afterwards; `nil` if the new one is too costly or there is no memory. Counts as a use
  /// of the value that is there, and as a hit or a miss.
  ///
  /// - Complexity: Like ``insert(_:forKey:cost:file:line:)``.
  @discardableResult
  public func insert(
    _ value: Value, ifAbsentForKey key: Key, cost: Int? = nil,
    file: StaticString = #fileID, line: UInt = #line
  ) -> (inserted: Bool, current: Value?) {
    if let current = self.value(forKey: key) { return (false, current) }
    let outcome = insert(value, forKey: key, cost: cost, file: file, line: line)
    return outcome.isStored ? (true, value) : (false, nil)
  }

  /// Changes a copy of the value of `key`, or of `defaultValue` if there is none, and stores it.
  ///
  ///     counters.modifyValue(forKey: "visits", default: 0) { $0 += 1 }
  ///
  /// ``withMutableValue(forKey:file:line:_:)`` changes a value without a copy, at its cost. If
  /// `body` throws, nothing changes. It may use the cache; what it leaves is stored last. Counts as
  /// a use of the entry, and as a hit or a miss.
  ///
  /// - Parameters:
  ///   - key: The key whose value to change.
  ///   - defaultValue: The value to begin with if there is none.
  ///   - cost: The cost of the changed value. Must not be negative. If `nil`, the cost function is
  ///     asked; without one the entry keeps its cost, and a new entry gets the default cost.
  ///   - file: The file of the call, for the message of a trap.
  ///   - line: The line of the call, for the message of a trap.
  ///   - body: Changes the value.
  /// - Returns: What became of the changed value.
  /// - Complexity: That of a lookup and an insertion, plus `body`.
  @discardableResult
  public func modifyValue<Failure: Error>(
    forKey key: Key, default defaultValue: @autoclosure () -> Value, cost: Int? = nil,
    file: StaticString = #fileID, line: UInt = #line, _ body: (inout Value) throws(Failure) -> Void
  ) throws(Failure) -> InsertionOutcome {
    require(cost ?? 0 >= 0, "cost must not be negative", file: file, line: line)
    var value = self.value(forKey: key) ?? defaultValue()
    try body(&value)
    return insert(value, forKey: key, cost: cost ?? keptCost(key), file: file, line: line)
  }

  /// Changes a copy of the value of `key` and stores it. Returns `nil`, and does not call `body`,
  /// if there is none. Otherwise like ``modifyValue(forKey:default:cost:file:line:_:)``.
  @discardableResult
  public func modifyValue<Failure: Error>(
    forKey key: Key, cost: Int? = nil, file: StaticString = #fileID, line: UInt = #line,
    _ body: (inout Value) throws(Failure) -> Void
  ) throws(Failure) -> InsertionOutcome? {
    require(cost ?? 0 >= 0, "cost must not be negative", file: file, line: line)
    guard var value = value(forKey: key) else { return nil }
    try body(&value)
    return insert(value, forKey: key, cost: cost ?? keptCost(key), file: file, line: line)
  }

  /// Changes, stores or removes the value of `key`, and returns what `body` returns. `body` gets a
  /// copy, or `nil` if there is no value. If it leaves `nil`, the entry is removed.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - cost: Tells the cost of the new value. Must not return a negative number. If `nil`, the
  ///     cost is that of ``modifyValue(forKey:default:cost:file:line:_:)``.
  ///   - file: The file of the call, for the message of a trap.
  ///   - line: The line of the call, for the message of a trap.
  ///   - body: Changes the value.
  /// - Complexity: That of a lookup and an insertion, plus `body`.
  @discardableResult
  public func updateValue<Result, Failure: Error>(
    forKey key: Key, cost: ((Value) -> Int)? = nil,
    file: StaticString = #fileID, line: UInt = #line,
    _ body: (inout Value?) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var value = value(forKey: key)
    let result = try body(&value)
    if let value {
      let given = cost?(value) ?? keptCost(key)
      insert(value, forKey: key, cost: given, file: file, line: line)
    } else {
      remove(key)
    }
    return result
  }

  /// The cost that a changed value keeps.
  @usableFromInline
  func keptCost(_ key: Key) -> Int? { cost == nil ? storedCost(key) : nil }
}
