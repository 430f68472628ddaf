// SPDX-License-Identifier: Apache-2.0

extension LocalCache {
  /// Returns all entries, hottest first, with copies of their values.
  ///
  /// - Complexity: O(*n*).
  public func snapshot() -> [(key: Key, value: Value, cost: Int)] {
    var all: [(key: Key, value: Value, cost: Int)] = []
    all.reserveCapacity(count)
    forEach { all.append(($0, copy $1, $2)) }
    return all
  }

  /// Returns the `n` entries that the policy would keep longest, hottest first. `n` must not be
  /// negative.
  ///
  /// - Complexity: O(*n*) for all entries.
  public func hottest(
    _ n: Int, file: StaticString = #fileID, line: UInt = #line
  ) -> [(key: Key, value: Value, cost: Int)] {
    require(n >= 0, "n must not be negative", file: file, line: line)
    return Array(snapshot().prefix(n))
  }

  /// Returns the `n` entries that the policy would evict next, coldest first. `n` must not be
  /// negative.
  ///
  /// - Complexity: O(*n*) for all entries.
  public func coldest(
    _ n: Int, file: StaticString = #fileID, line: UInt = #line
  ) -> [(key: Key, value: Value, cost: Int)] {
    require(n >= 0, "n must not be negative", file: file, line: line)
    return snapshot().suffix(n).reversed()
  }

  /// The values of all entries, hottest first.
  ///
  /// - Complexity: O(*n*).
  public var values: [Value] { snapshot().map(\.value) }
}

extension Dictionary {
  /// Creates a dictionary from what a local cache lists, in which no key is twice.
  ///
  ///     let stored = Dictionary(uniqueKeysWithValues: lists.snapshot())
  ///
  /// - Complexity: O(*n*).
  public init(uniqueKeysWithValues elements: [(key: Key, value: Value, cost: Int)]) {
    self.init(uniqueKeysWithValues: elements.lazy.map { ($0.key, $0.value) })
  }
}
