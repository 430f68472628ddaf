// SPDX-License-Identifier: Apache-2.0
import CBench
import Larder

/// What several policies found in one random workload.
struct SearchCase {
  let number: Int
  let limit: Int
  let text: String
  let lookups: Int
  /// For each policy the hits of each fill, over all runs. A fill is as many stores as there is
  /// room for, by the stores of the first rival, so that all have the same requests in it.
  let hits: [[Int]]

  /// So few hits say nothing of a policy.
  static let leastHits = 30

  var sums: [Int] { hits.map { $0.reduce(0, +) } }

  /// The first policy's hits as a share of the best other's; nil if there is next to nothing to
  /// hit.
  var ratio: Double? {
    let best = sums.dropFirst().max() ?? 0
    return best < Self.leastHits ? nil : Double(sums[0]) / Double(best)
  }

  struct Settings {
    var seed: UInt64
    var limits: ClosedRange<Int>
    var fills: Int
    /// The judged one, then its rivals.
    var policies: [EvictionPolicy]
    var shards: Int?
  }

  /// In small caches ten fills are a handful of requests. So they get as many runs as give some
  /// hundred entries together, each with other draws and from an empty cache on.
  init(number: Int, _ settings: Settings) {
    let drawn = RandomWorkload(seed: settings.seed, number: number, limits: settings.limits)
    let limit = drawn.limit
    var lookups = 0
    var hits = settings.policies.map { _ in [Int](repeating: 0, count: settings.fills) }
    for run in 0..<max(1, 200 / limit) {
      var workload = RandomWorkload(
        seed: settings.seed, number: number, run: run, limits: settings.limits)
      var requests = SearchRequests()
      let first = Player(settings.policies[1], limit: limit, shards: settings.shards)
      var ends: [Int] = []
      // A workload that hardly stores ends, too.
      let most = 60 * limit * settings.fills / 10 + 20
      workload.write(&requests) { requests in
        while first.place < requests.count && ends.count < settings.fills {
          first.play(requests, to: first.place + 1)
          if first.stores >= (ends.count + 1) * limit {
            ends.append(first.place)
            first.endFill()
          }
        }
        return ends.count == settings.fills || requests.count >= most
      }
      while ends.count < settings.fills {
        ends.append(first.place)
        first.endFill()
      }
      lookups += first.lookups
      for (index, policy) in settings.policies.enumerated() {
        var player = first
        if index != 1 {
          player = Player(policy, limit: limit, shards: settings.shards)
          for end in ends {
            player.play(requests, to: end)
            player.endFill()
          }
        }
        for fill in hits[index].indices { hits[index][fill] += player.hitsByFill[fill] }
      }
    }
    self.number = number
    self.limit = limit
    self.lookups = lookups
    self.hits = hits
    text = drawn.text
  }
}

/// Carries out requests with one cache, on this thread.
private final class Player {
  private let cache: Cache<UInt64, UInt64>
  private(set) var place = 0
  private var hits = 0
  private(set) var hitsByFill: [Int] = []
  private(set) var lookups = 0
  private(set) var stores = 0

  init(_ policy: EvictionPolicy, limit: Int, shards: Int?) {
    cache = Cache(countLimit: limit, policy: policy, shards: shards)
  }

  func endFill() {
    hitsByFill.append(hits)
    hits = 0
  }

  func play(_ requests: borrowing SearchRequests, to end: Int) {
    while place < end {
      let key = requests.keys[place]
      switch requests.actions[place] {
      case .lookUp:
        lookups += 1
        if cache.value(forKey: key) != nil { hits += 1 }
      case .readThrough:
        lookups += 1
        if cache.value(forKey: key) != nil {
          hits += 1
        } else {
          cache.insert(key, forKey: key)
          stores += 1
        }
      case .store:
        cache.insert(key, forKey: key)
        stores += 1
      case .remove: cache.removeValue(forKey: key)
      case .removeAll: cache.removeAll()
      }
      place += 1
    }
  }
}
