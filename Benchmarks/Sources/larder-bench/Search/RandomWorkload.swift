// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What programs can ask of a cache, as ``RandomWorkload`` writes it.
enum SearchAction: UInt8 {
  case lookUp, store, readThrough, remove, removeAll
}

struct SearchRequests {
  private(set) var keys: [UInt64] = []
  private(set) var actions: [SearchAction] = []
  /// The newest of them can be removed again.
  private(set) var newest: UInt64 = 0

  var count: Int { keys.count }

  mutating func add(_ action: SearchAction, _ key: UInt64) {
    keys.append(key)
    actions.append(action)
    if action == .store || action == .readThrough { newest = key }
  }
}

/// A workload drawn at random: a few habits, mixed in phases that take turns.
///
///     workload = phase phase* , repeated; sometimes removeAll() in between
///     phase    = habit habit* with weights, so many fills long; sometimes removals in between
///
/// The number of a case and the seed of the search determine it entirely.
struct RandomWorkload {
  let limit: Int
  let text: String

  private struct Phase {
    let weights: [Double]
    let requests: Int
    /// After so many requests one entry is removed by call; 0 for never.
    let removal: Int
  }

  private var habits: [Habit] = []
  private var phases: [Phase] = []
  private var removesAll = false
  private var random: SeededGenerator

  /// - Parameter run: Other draws of the same workload.
  init(seed: UInt64, number: Int, run: Int = 0, limits: ClosedRange<Int>) {
    var random = SeededGenerator(seed: scattered(scattered(seed) &+ UInt64(number)))
    let exponent = Double.random(in: 0..<1, using: &random)
    let (low, high) = (Double(limits.lowerBound), Double(limits.upperBound) + 1)
    let limit = min(limits.upperBound, Int(low * pow(high / low, exponent)))
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      habits.append(Habit(limit: limit, keySpace: random.next(), random: &random))
    }
    var texts = ["room for \(limit)"]
    for (letter, habit) in zip("ABCD", habits) { texts.append("\(letter): \(habit.text)") }
    for place in 1...Int.random(in: 1...4, using: &random) {
      let fills = 0.3 * pow(20, Double.random(in: 0..<1, using: &random))
      // Half of all phases have one habit, the others a mix.
      let only = Bool.random(using: &random) ? Int.random(in: habits.indices, using: &random) : nil
      let weights = habits.indices.map { index in
        let weight = Double.random(in: 0.02..<1, using: &random)
        return only.map { $0 == index ? 1 : 0 } ?? weight
      }
      let removals = [0, 0, 0, 0, 50, 5].randomElement(using: &random)!
      phases.append(
        Phase(
          weights: weights, requests: max(1, Int(fills * 3 * Double(limit))), removal: removals))
      let mix = zip("ABCD", weights).filter { $0.1 > 0 }.map { "\($0.0) \(fixed($0.1, 2))" }
      let removal = removals > 0 ? ", one in \(removals) removed" : ""
      texts.append(
        "phase \(place), \(phases.last!.requests) requests: \(mix.joined(separator: " "))\(removal)"
      )
    }
    if Int.random(in: 0..<20, using: &random) == 0 {
      removesAll = true
      texts.append("all removed between phases")
    }
    self.limit = limit
    text = texts.joined(separator: "; ")
    self.random = SeededGenerator(seed: scattered(random.next() &+ UInt64(run)))
  }

  /// Writes requests until `isEnough` says of those written so far that they are.
  mutating func write(
    _ requests: inout SearchRequests, until isEnough: (SearchRequests) -> Bool
  ) {
    while true {
      for phase in phases {
        let end = requests.count + phase.requests
        // A habit that makes many requests at a time acts as much more rarely.
        let shares = zip(phase.weights, habits).map { $0 / Double($1.requests) }
        let whole = shares.reduce(0, +)
        var untilRemoval = phase.removal
        while requests.count < end {
          var point = Double.random(in: 0..<whole, using: &random)
          var chosen = 0
          while chosen < shares.count - 1, point >= shares[chosen] {
            point -= shares[chosen]
            chosen += 1
          }
          habits[chosen].act(&requests, &random)
          untilRemoval -= 1
          if phase.removal > 0 && untilRemoval <= 0 {
            requests.add(.remove, requests.newest)
            untilRemoval = phase.removal
          }
          if isEnough(requests) { return }
        }
        if removesAll { requests.add(.removeAll, 0) }
      }
    }
  }
}
