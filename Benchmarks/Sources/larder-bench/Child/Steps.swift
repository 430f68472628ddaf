// SPDX-License-Identifier: Apache-2.0
import CBench

/// The action of one request. A type, not a closure, so that every loop is specialised for its
/// step.
protocol Step: SendableMetatype {
  static func apply<R: Rival>(
    _ rival: R, _ requests: Requests<R.Key>, _ index: Int, _ tally: inout Tally)
}

/// What the requests of one thread found.
struct Tally {
  var hits = 0
  /// The costs of requests that hit. Only steps that have costs keep them.
  var hitCosts = 0
  /// Only steps that do more than look up keep them.
  var lookups = 0
  /// Values are summed up and the sum is consumed, so that the optimizer drops no lookup.
  var sum: UInt64 = 0

  mutating func add(_ other: Tally) {
    hits += other.hits
    hitCosts += other.hitCosts
    lookups += other.lookups
  }
}

/// A lookup.
enum GetStep: Step {
  @inline(__always)
  static func apply<R: Rival>(
    _ rival: R, _ requests: Requests<R.Key>, _ index: Int, _ tally: inout Tally
  ) {
    guard let number = rival.read(requests.keys[index]) else { return }
    tally.sum &+= number
    tally.hits += 1
  }
}

/// A lookup, and an insertion if it missed.
enum ReadThroughStep: Step {
  @inline(__always)
  static func apply<R: Rival>(
    _ rival: R, _ requests: Requests<R.Key>, _ index: Int, _ tally: inout Tally
  ) {
    let key = requests.keys[index]
    if let number = rival.read(key) {
      tally.sum &+= number
      tally.hits += 1
    } else {
      rival.put(R.Value(UInt64(index)), for: key)
    }
  }
}

/// Like ``ReadThroughStep``, and adds up the costs of hits. The cache receives no costs.
enum SizedReadThroughStep: Step {
  @inline(__always)
  static func apply<R: Rival>(
    _ rival: R, _ requests: Requests<R.Key>, _ index: Int, _ tally: inout Tally
  ) {
    let hits = tally.hits
    ReadThroughStep.apply(rival, requests, index, &tally)
    if tally.hits > hits { tally.hitCosts += Int(requests.costs[index]) }
  }
}

/// Like ``SizedReadThroughStep``, for caches bounded by cost.
enum CostedReadThroughStep: Step {
  @inline(__always)
  static func apply<R: Rival>(
    _ rival: R, _ requests: Requests<R.Key>, _ index: Int, _ tally: inout Tally
  ) {
    let key = requests.keys[index]
    let cost = Int(requests.costs[index])
    if let number = rival.read(key) {
      tally.sum &+= number
      tally.hits += 1
      tally.hitCosts += cost
    } else {
      rival.put(R.Value(UInt64(index)), for: key, cost: cost)
    }
  }
}

/// Three lookups for one insertion or replacement, in an order that no branch predictor learns.
enum MixedStep: Step {
  @inline(__always)
  static func apply<R: Rival>(
    _ rival: R, _ requests: Requests<R.Key>, _ index: Int, _ tally: inout Tally
  ) {
    if scattered(UInt64(index)) & 3 == 0 {
      rival.put(R.Value(UInt64(index)), for: requests.keys[index])
      tally.hits += 1
    } else {
      GetStep.apply(rival, requests, index, &tally)
    }
  }
}

/// An insertion.
enum PutStep: Step {
  @inline(__always)
  static func apply<R: Rival>(
    _ rival: R, _ requests: Requests<R.Key>, _ index: Int, _ tally: inout Tally
  ) {
    rival.put(R.Value(UInt64(index)), for: requests.keys[index])
  }
}

/// The action that the stream has for this request. Adds up the costs of hits if there are costs.
/// The cache receives none.
enum ScriptStep: Step {
  @inline(__always)
  static func apply<R: Rival>(
    _ rival: R, _ requests: Requests<R.Key>, _ index: Int, _ tally: inout Tally
  ) {
    follow(rival, requests, index, &tally) { rival.put($1, for: $0) }
  }

  @inline(__always)
  fileprivate static func follow<R: Rival>(
    _ rival: R, _ requests: Requests<R.Key>, _ index: Int, _ tally: inout Tally,
    put: (R.Key, R.Value) -> Void
  ) {
    let key = requests.keys[index]
    let action = requests.actions[index]
    if action != Action.store.rawValue {
      tally.lookups += 1
      if let number = rival.read(key) {
        tally.sum &+= number
        tally.hits += 1
        if !requests.costs.isEmpty { tally.hitCosts += Int(requests.costs[index]) }
        return
      }
      if action == Action.lookUp.rawValue { return }
    }
    put(key, R.Value(UInt64(index)))
  }
}

/// Like ``ScriptStep``, for caches bounded by cost.
enum CostedScriptStep: Step {
  @inline(__always)
  static func apply<R: Rival>(
    _ rival: R, _ requests: Requests<R.Key>, _ index: Int, _ tally: inout Tally
  ) {
    ScriptStep.follow(rival, requests, index, &tally) { key, value in
      rival.put(value, for: key, cost: Int(requests.costs[index]))
    }
  }
}

/// The loop inside the clock.
@inline(never)
func run<R: Rival, S: Step>(
  _ step: S.Type, _ rival: R, _ requests: Requests<R.Key>, _ share: Share
) -> Tally {
  var tally = Tally()
  var share = share
  while let index = share.next() {
    S.apply(rival, requests, index, &tally)
  }
  lb_consume(tally.sum)
  return tally
}

/// The loop that times each request by itself.
///
/// Closed loop (`interval` 0): the next request begins when the last one has ended. Open loop:
/// request number i is due `interval` ticks after number i - 1, whatever became of the earlier
/// ones. Its time counts from the moment it was due, so a stall counts for every request that
/// arrives meanwhile (no coordinated omission).
@inline(never)
func runTimed<R: Rival, S: Step>(
  _ step: S.Type, _ rival: R, _ requests: Requests<R.Key>, _ share: Share,
  interval: Double, clock: TickClock, into histogram: inout Histogram
) -> Tally {
  var tally = Tally()
  let start = lb_ticks_begin()
  var due = 0.0
  var share = share
  while let index = share.next() {
    if interval > 0 {
      clock.wait(until: start &+ UInt64(due))
    }
    let begin = interval > 0 ? start &+ UInt64(due) : lb_ticks_begin()
    S.apply(rival, requests, index, &tally)
    histogram.record(lb_ticks_end() &- begin)
    due += interval
  }
  lb_consume(tally.sum)
  return tally
}
