// SPDX-License-Identifier: Apache-2.0
import CBench

/// Repeats one step over a stream of requests with one implementation.
///
///     round FIRST COUNT LEAD           LEAD requests outside the clock, then COUNT inside it
///     latency FIRST COUNT LEAD RATE    the same, every request timed by itself; RATE requests a
///                                      second over all threads, 0 for one after the other
///     lifetime NANOSECONDS             the mean lifetime of entries in caches created from now on
///
/// The implementation is filled once, outside the clock. With `fresh=1` it is created again, empty,
/// for every command. With `parts` a round goes through the whole stream and counts the hits of
/// each part; all threads wait between two parts, and the cache settles.
final class StepBench<R: Rival, S: Step>: ChildBench {
  private let requests: Requests<R.Key>
  private let threads: Int
  private var limits: Limits
  private let parts: [Range<Int>]
  private let kept: R?
  private lazy var clock = TickClock()

  init(_ settings: ChildSettings) throws {
    requests = try Requests(
      keyFile: settings.text("stream"), costFile: settings.text("costs"),
      actionFile: settings.text("actions"))
    threads = settings.number("threads")
    limits = settings.limits
    let ends = try settings.text("parts").map { try mapped($0, as: UInt64.self).map(Int.init) }
    parts = (ends ?? []).indices.map { ($0 == 0 ? 0 : ends![$0 - 1])..<ends![$0] }
    if settings.text("fresh") == "1" {
      kept = nil
      return
    }
    let rival = R(limits)
    if let fill = settings.text("fill") {
      for number in try mapped(fill, as: UInt64.self) {
        rival.put(R.Value(number), for: R.Key(number: number))
      }
    }
    kept = rival
  }

  func perform(_ command: String, _ numbers: [Double]) throws -> ChildReply {
    if command == "lifetime", numbers.count == 1 {
      limits.lifetime = numbers[0]
      return ChildReply()
    }
    let rate = command == "latency" && numbers.count == 4 ? numbers[3] : 0
    guard command == "round" && numbers.count == 3 || command == "latency" && numbers.count == 4
    else { throw Failure("a child does not know the command '\(command)' with these numbers") }
    let lead = Int(numbers[0])..<Int(numbers[0] + numbers[2])
    let timed = lead.upperBound..<lead.upperBound + Int(numbers[1])
    if !parts.isEmpty { return roundByParts() }
    return command == "round" ? round(lead, timed) : latency(lead, timed, rate)
  }

  /// A cache that is created for every command replays a trace, whose order matters.
  private func shares(_ range: Range<Int>) -> [Share] {
    Share.all(threads, of: range, inOrder: kept == nil)
  }

  private func round(_ lead: Range<Int>, _ timed: Range<Int>) -> ChildReply {
    let rival = kept ?? R(limits)
    let (requests, leads, shares) = (requests, shares(lead), shares(timed))
    let team = runTogether(
      threads, preparation: { _ = run(S.self, rival, requests, leads[$0]) },
      { run(S.self, rival, requests, shares[$0]) })
    var reply = withExtendedLifetime(rival) { self.reply(team, team.results, timed.count) }
    reply.expired = rival.expiredShare
    return reply
  }

  private func roundByParts() -> ChildReply {
    let rival = kept ?? R(limits)
    let (requests, shares, gate) = (requests, parts.map(shares), Gate(threads))
    let team = runTogether(
      threads, preparation: { _ in },
      { thread in
        shares.map { part in
          let tally = run(S.self, rival, requests, part[thread])
          gate.wait()
          if thread == 0 { rival.settle() }
          gate.wait()
          return tally
        }
      })
    var reply = withExtendedLifetime(rival) {
      self.reply(team, team.results.flatMap { $0 }, requests.keys.count)
    }
    reply.partHits = parts.indices.map { part in
      team.results.reduce(0) { $0 + $1[part].hits }
    }
    return reply
  }

  private func latency(_ lead: Range<Int>, _ timed: Range<Int>, _ rate: Double) -> ChildReply {
    let rival = kept ?? R(limits)
    let clock = clock
    let interval = rate > 0 ? 1e9 / rate * Double(threads) / clock.nanosecondsPerTick : 0
    let (requests, leads, shares) = (requests, shares(lead), shares(timed))
    let team = runTogether(
      threads, preparation: { _ = run(S.self, rival, requests, leads[$0]) },
      { thread in
        var histogram = Histogram()
        let tally = runTimed(
          S.self, rival, requests, shares[thread], interval: interval, clock: clock,
          into: &histogram)
        return (tally: tally, histogram: histogram)
      })
    var histogram = Histogram()
    for result in team.results { histogram.add(result.histogram) }
    var reply = withExtendedLifetime(rival) {
      self.reply(team, team.results.map(\.tally), timed.count)
    }
    reply.timerNs = clock.overheadNanoseconds
    reply.histogram = histogram.pairs(clock)
    return reply
  }

  private func reply<Result>(
    _ team: TeamResult<Result>, _ tallies: [Tally], _ operations: Int
  ) -> ChildReply {
    var total = Tally()
    for tally in tallies { total.add(tally) }
    return ChildReply(
      operations: operations, wallNs: team.wall, cpuNs: team.cpu, hits: total.hits,
      hitCosts: total.hitCosts,
      lookups: requests.actions.isEmpty ? nil : total.lookups)
  }
}
