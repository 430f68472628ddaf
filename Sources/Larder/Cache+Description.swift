// SPDX-License-Identifier: Apache-2.0

/// What debuggers, `print` and `dump` show: the cache's numbers, never its entries.
extension Cache: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// One line: name, entries, cost, limits, policy, hit ratio, and how much has expired.
  ///
  /// ```text
  /// Cache "thumbnails": 812 of 1000 entries, lru, 93.1 % of 40000 lookups hit
  /// ```
  ///
  /// - Complexity: Like ``statistics``.
  public var description: String {
    summary(
      "Cache", name, policy, statistics, (count, countLimit), (totalCost, totalCostLimit))
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
}

/// A cache in one line: its kind and name, and how much of each limit is used.
func summary(
  _ kind: String, _ name: String, _ policy: EvictionPolicy, _ statistics: CacheStatistics,
  _ count: (used: Int, limit: Int), _ cost: (used: Int, limit: Int)
) -> String {
  func of(_ limit: Int) -> String { limit == 0 ? "" : " of \(limit)" }
  let lookups = statistics.hits + statistics.misses
  var parts = ["\(count.used)\(of(count.limit)) entries"]
  if cost.used > 0 || cost.limit > 0 { parts.append("cost \(cost.used)\(of(cost.limit))") }
  parts.append(policy.rawValue)
  if lookups > 0 {
    let permille = Int((Double(statistics.hits) / Double(lookups) * 1_000).rounded())
    parts.append("\(permille / 10).\(permille % 10) % of \(lookups) lookups hit")
  }
  if statistics.expirations > 0 { parts.append("\(statistics.expirations) expired") }
  return kind + (name.isEmpty ? "" : " \"\(name)\"") + ": " + parts.joined(separator: ", ")
}
