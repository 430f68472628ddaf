// SPDX-License-Identifier: Apache-2.0
import CCallgrind
import Glibc
import Larder

/// A read-through of Zipf keys, exponent 0.99, into room for a tenth of them: requests of a full
/// cache whose policy has learnt, hits and misses as they come. A miss makes an object and stores
/// it.
struct ReadThrough {
  private let keys: Int
  private let warmUp: Int
  private let requests: [UInt64]

  /// Requests of so many keys: four for each to learn from, and `counted` more.
  init(keys: Int, counted: Int) {
    // What only prepares may run as fast as valgrind can.
    lb_callgrind_pause()
    defer { lb_callgrind_resume() }
    self.keys = keys
    warmUp = 4 * keys
    var sum = 0.0
    let cumulative = (1...keys).map { rank in
      sum += pow(Double(rank), -0.99)
      return sum
    }
    var state: UInt64 = 3
    requests = (0..<warmUp + counted).map { _ in
      state &+= 0x9E37_79B9_7F4A_7C15
      let point = Double(Self.scattered(state) >> 11) * 0x1p-53 * sum
      var (low, high) = (0, keys - 1)
      while low < high {
        let middle = (low + high) / 2
        if cumulative[middle] > point { high = middle } else { low = middle + 1 }
      }
      return Self.scattered(UInt64(low))
    }
  }

  func count(_ name: String, _ policy: EvictionPolicy, hits least: Double = 0.7) {
    let cache = Cache<UInt64, Object>(countLimit: keys / 10, policy: policy)
    lb_callgrind_pause()
    _ = Self.hits(cache, requests[..<warmUp])
    lb_callgrind_resume()
    lb_callgrind_begin()
    let hits = Self.hits(cache, requests[warmUp...])
    lb_callgrind_end(name)
    let counted = requests.count - warmUp
    let ratio = Double(hits) / Double(counted)
    precondition(ratio > least && ratio < 0.85, "\(name) did not do its work")
    print(name, counted, ratio)
  }

  @inline(never)
  private static func hits(_ cache: Cache<UInt64, Object>, _ keys: ArraySlice<UInt64>) -> Int {
    var hits = 0
    for key in keys {
      if cache.value(forKey: key) != nil {
        hits += 1
      } else {
        cache.insert(Object(key), forKey: key)
      }
    }
    return hits
  }

  /// SplitMix64's last step: a bijection.
  private static func scattered(_ number: UInt64) -> UInt64 {
    var bits = number
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }
}
