// SPDX-License-Identifier: Apache-2.0

extension LocalCache: CustomStringConvertible, CustomDebugStringConvertible
where Value: ~Copyable {
  /// One line: name, entries, cost, limits, policy, hit ratio.
  ///
  /// - Complexity: O(1).
  public var description: String {
    summary(
      "LocalCache", name, policy, statistics, (count, countLimit), (totalCost, totalCostLimit))
  }

  /// Like ``description``.
  public var debugDescription: String { description }
}

extension LocalCache: CustomReflectable where Value: ~Copyable {
  /// Name, counts, limits, policy and statistics.
  public var customMirror: Mirror {
    let children: KeyValuePairs<String, Any> = [
      "name": name, "policy": policy, "count": count, "countLimit": countLimit,
      "totalCost": totalCost, "totalCostLimit": totalCostLimit, "statistics": statistics,
    ]
    return Mirror(self, children: children, displayStyle: .class)
  }
}
