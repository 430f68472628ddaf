// SPDX-License-Identifier: Apache-2.0
public import Larder

// What benchmarks need to know of Larder's policies beyond their names, which are their raw values.
extension EvictionPolicy {
  /// The name of the same algorithm in reference tables of replayed traces; nil if they have none.
  public var counterpart: String? {
    switch self {
    case .lru: "LRU"
    case .fifo: "FIFO"
    case .lfu: "LFU"
    case .clock: "CLOCK"
    case .sieve: "SIEVE"
    case .s3fifo: "S3-FIFO"
    case .tinyLFU: "Caffeine-3.2.4"
    case .twoQueue: "2Q"
    case .costAware: "GDSF"
    default: nil
    }
  }

  /// Whether it orders entries by their costs. Such a cache must have a cost limit.
  public var ordersByCost: Bool { self == .cheapestFirst || self == .costAware }

  /// All names, for help and messages.
  public static var list: String { allCases.map(\.rawValue).joined(separator: ", ") }
}
