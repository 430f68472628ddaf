// SPDX-License-Identifier: Apache-2.0

/// What a request does, where requests of one stream do different things. The raw values are the
/// bytes that children read, one for each request; see Benchmarks/Rivals/README.md.
enum Action: UInt8 {
  /// Looks a key up, and stores nothing after a miss.
  case lookUp
  /// Stores a key, whatever the cache holds. This is no look-up.
  case store
  /// Looks a key up, and stores it if it was missing.
  case readThrough
}

/// Which requests of a trace store, as services differ in that.
enum StoreMode: String, Choice {
  /// A request that missed.
  case miss
  /// The first request for a key, and that which comes long after the last store.
  case first
  /// One request in four, chosen at random and for ever.
  case always
  static let what = "store mode"

  /// The action of every request, for a cache with room for `capacity` entries. It does not depend
  /// on what the cache holds. nil: all of them read through.
  func actions(_ keys: [UInt64], capacity: Int) -> [Action]? {
    switch self {
    case .miss: return nil
    case .always:
      return keys.indices.map { scattered(UInt64($0)) & 3 == 0 ? .store : .lookUp }
    case .first:
      let farthest = 4 * capacity
      var lastStores: [UInt64: Int] = [:]
      return keys.enumerated().map { index, key in
        if let last = lastStores[key], index - last <= farthest { return .lookUp }
        lastStores[key] = index
        return .store
      }
    }
  }
}
