// SPDX-License-Identifier: Apache-2.0
public import Larder

// What benchmarks must know of Larder's policies beyond their names, which are their raw values.
extension EvictionPolicy {
  /// What reference tables of replayed traces call the same algorithm; nil where they have none.
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

  /// Whether it orders entries by their costs: such a cache must have a limit of cost.
  public var ordersByCost: Bool { self == .cheapestFirst || self == .costAware }

  /// All names, for help and messages.
  public static var list: String { allCases.map(\.rawValue).joined(separator: ", ") }
}
