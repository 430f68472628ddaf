// SPDX-License-Identifier: Apache-2.0

/// What debuggers, `print` and `dump` show: the cache's numbers, never its entries.
extension Cache: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// One line: name, entries, cost, limits, policy, hit ratio, and how much has expired.
  ///
  ///     Cache "thumbnails": 812 of 1000 entries, lru, 93.1 % of 40000 lookups hit
  ///
  /// - Complexity: Like ``statistics``.
  public var description: String {
    let statistics = statistics
    let lookups = statistics.hits + statistics.misses
    var parts = ["\(count)\(Self.of(countLimit)) entries"]
    if totalCost > 0 || totalCostLimit > 0 {
      parts.append("cost \(totalCost)\(Self.of(totalCostLimit))")
    }
    parts.append(policy.rawValue)
    if lookups > 0 {
      let permille = Int((Double(statistics.hits) / Double(lookups) * 1_000).rounded())
      parts.append("\(permille / 10).\(permille % 10) % of \(lookups) lookups hit")
    }
    if statistics.expirations > 0 { parts.append("\(statistics.expirations) expired") }
    return (name.isEmpty ? "Cache: " : "Cache \"\(name)\": ") + parts.joined(separator: ", ")
  }

  /// Like ``description``.
  public var debugDescription: String { description }

  /// Name, counts, limits, policy, expiration and statistics.
  public var customMirror: Mirror {
    let children: KeyValuePairs<String, Any> = [
      "name": name, "policy": policy, "count": count, "countLimit": countLimit,
      "totalCost": totalCost, "totalCostLimit": totalCostLimit, "expiration": expiration,
      "statistics": statistics,
    ]
    return Mirror(self, children: children, displayStyle: .class)
  }

  private static func of(_ limit: Int) -> String { limit == 0 ? "" : " of \(limit)" }
}
