// SPDX-License-Identifier: Apache-2.0
import Glibc

/// One way in which programs use caches: a word of the grammar of ``RandomWorkload``. All lengths
/// are drawn relative to the room in the cache.
struct Habit {
  enum Kind: CaseIterable {
    case stores, storeThenRead, sessions, loads, loop, scan, shift, rows, rewrites, absent
  }

  let kind: Kind
  /// What became of the draw, for a reader: "sessions of 4 reads within 0.31".
  let text: String
  /// How many requests one call of `act` makes, about.
  let requests: Int

  /// Its keys are apart from those of all other habits.
  private let keySpace: UInt64
  private let keys: Int
  private let exponent: Double
  private let reads: Int
  private let storesNew: Bool
  private var next = 0
  /// For `rows`: the moment of each key's last store.
  private var lastStores: [Int] = []
  private let farthest: Int

  init(limit: Int, keySpace: UInt64, random: inout SeededGenerator) {
    self.keySpace = keySpace
    kind = Kind.allCases.randomElement(using: &random)!
    farthest = 4 * limit
    let span = { (low: Double, high: Double, random: inout SeededGenerator) in
      low * pow(high / low, Double.random(in: 0..<1, using: &random))
    }
    func count(_ share: Double) -> Int { max(1, Int((share * Double(limit)).rounded())) }
    func short(_ number: Double) -> String { fixed(number, 2) }
    let share: Double
    let power = Double.random(in: 0..<1.3, using: &random)
    let times = Int.random(in: 1...8, using: &random)
    let asStores = Bool.random(using: &random)
    switch kind {
    case .stores, .absent: share = 1
    case .storeThenRead: share = span(0.05, 1.3, &random)
    case .sessions: share = span(0.05, 1.3, &random)
    case .loads, .rows, .rewrites: share = span(0.3, 30, &random)
    case .loop, .scan: share = span(0.2, 3, &random)
    case .shift: share = span(0.1, 2, &random)
    }
    keys = count(share)
    exponent = power
    reads = kind == .shift ? 1 + times * times : times
    storesNew = asStores
    requests =
      switch kind {
      case .storeThenRead: 2
      case .sessions: 1 + reads
      case .scan: keys
      default: 1
      }
    text =
      switch kind {
      case .stores: "stores"
      case .absent: "lookups of absent keys"
      case .storeThenRead: "store, then read the one \(short(share)) back"
      case .sessions: "sessions of \(reads) reads within \(short(share))"
      case .loads: "loads of \(short(share)), skew \(short(power))"
      case .rows: "rows stored when new, \(short(share)), skew \(short(power))"
      case .rewrites: "one store to three lookups, \(short(share)), skew \(short(power))"
      case .loop: "loop over \(short(share))"
      case .scan: "scans of \(short(share)) \(asStores ? "stored" : "loaded")"
      case .shift: "loads of a window of \(short(share)) that moves each \(reads) requests"
      }
    if kind == .rows { lastStores = [Int](repeating: Int.min / 2, count: keys) }
  }

  /// Writes the next few requests.
  mutating func act(_ requests: inout SearchRequests, _ random: inout SeededGenerator) {
    defer { next += 1 }
    switch kind {
    case .stores: requests.add(.store, key(next))
    case .absent: requests.add(.lookUp, key(next))
    case .storeThenRead:
      requests.add(.store, key(next))
      requests.add(.lookUp, key(next - keys))
    case .sessions:
      requests.add(.store, key(next))
      for _ in 0..<reads {
        let back = Int.random(in: 0..<keys, using: &random)
        if back <= next { requests.add(.lookUp, key(next - back)) }
      }
    case .loads: requests.add(.readThrough, key(rank(&random)))
    case .loop: requests.add(.readThrough, key(next % keys))
    case .scan:
      for number in 0..<keys {
        requests.add(storesNew ? .store : .readThrough, key(next * keys + number))
      }
    case .shift:
      let number = next / reads + Int.random(in: 0..<keys, using: &random)
      requests.add(.readThrough, key(number))
    case .rows:
      let number = rank(&random)
      let isStored = next - lastStores[number] <= farthest
      if !isStored { lastStores[number] = next }
      requests.add(isStored ? .lookUp : .store, key(number))
    case .rewrites:
      requests.add(random.next() & 3 == 0 ? .store : .lookUp, key(rank(&random)))
    }
  }

  private func key(_ number: Int) -> UInt64 {
    scattered(keySpace &+ UInt64(bitPattern: Int64(number)))
  }

  /// A number below `keys` by a power law, from the inverse of its continuous distribution.
  private func rank(_ random: inout SeededGenerator) -> Int {
    let point = Double.random(in: 0..<1, using: &random)
    let span = Double(keys + 1)
    let rest = 1 - exponent
    let place =
      abs(rest) < 1e-3 ? pow(span, point) : pow((pow(span, rest) - 1) * point + 1, 1 / rest)
    return min(keys - 1, max(0, Int(place) - 1))
  }
}
