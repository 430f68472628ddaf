// SPDX-License-Identifier: Apache-2.0

extension LoadingCache: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// One line: what ``Cache/description`` says of the cache, and the number of loads.
  ///
  /// - Complexity: Like ``Cache/statistics``.
  public var description: String { "Loading\(cache), \(statistics.loads) loads" }

  /// Like ``description``.
  ///
  /// - Complexity: Like ``Cache/statistics``.
  public var debugDescription: String { description }

  /// The cache, and the statistics of its loads.
  ///
  /// - Complexity: Like ``Cache/statistics``.
  public var customMirror: Mirror {
    Mirror(self, children: ["cache": cache, "statistics": statistics], displayStyle: .class)
  }
}
