// SPDX-License-Identifier: Apache-2.0
import CBench
import Foundation

/// A quarter of a second of a cache under pressure.
struct PressureSample {
  var time: Double  // seconds since the first one began
  var reply: ChildReply
  var neighbour: Double  // bytes
  var stalls: Double?  // milliseconds in a second in which some task waited for memory

  var json: JSON {
    .list([
      JSON(time), JSON(Double(reply.hits ?? 0) / Double(max(1, reply.operations ?? 0))),
      JSON(reply.residentBytes), JSON(neighbour), JSON(stalls),
    ])
  }
}

/// What becomes of a cache and its neighbour: four parts of equal length, in the second of which
/// the neighbour grows. It ends early if the system kills one of them.
struct PressureCourse {
  private(set) var samples: [PressureSample] = []
  private(set) var end = "both live"

  init(
    of server: Child, beside neighbour: Child, in group: ControlGroup, seconds: Int, growth: Int
  ) throws {
    try neighbour.ready()
    do { try server.ready() } catch let trouble as Trouble {
      guard server.wasKilled else { throw trouble }
      throw Trouble("the system kills the cache before it is full: the group's limit is too low")
    }
    let begin = lb_clock_ns(CLOCK_MONOTONIC)
    var (before, grows, time) = (group.stalledMicroseconds, false, 0.0)
    while time < Double(4 * seconds) {
      do {
        if !grows, time >= Double(seconds) {
          grows = true
          _ = try neighbour.perform("grow \(growth) \(seconds)")
        }
        let reply = try server.perform("sample 0.25")
        let bytes = try neighbour.perform("sample").residentBytes ?? 0
        let now = Double(lb_clock_ns(CLOCK_MONOTONIC) - begin) / 1e9
        let stalled = group.stalledMicroseconds
        let rate = stalled.flatMap { after in before.map { (after - $0) / 1e3 / (now - time) } }
        samples.append(
          PressureSample(time: time, reply: reply, neighbour: bytes, stalls: rate))
        (before, time) = (stalled, now)
      } catch let trouble as Trouble {
        let at = "killed after \(fixed(Double(lb_clock_ns(CLOCK_MONOTONIC) - begin) / 1e9, 1)) s"
        if server.wasKilled {
          end = "the cache is \(at)"
        } else if neighbour.wasKilled {
          end = "the neighbour is \(at)"
        } else {
          throw trouble
        }
        return
      }
    }
  }
}

/// A part of a course, as one line.
struct PressureSummary {
  let lookups: Int
  let hitRatio: Double
  let held: Double?  // bytes at the end, as the next two
  let resident: Double?
  let neighbour: Double
  let stalls: Double?  // milliseconds in a second
  let end: String
  private(set) var curve = LatencyCurve()

  init(_ samples: [PressureSample], end: String) {
    for sample in samples { curve.add(sample.reply.histogram ?? []) }
    lookups = samples.reduce(0) { $0 + ($1.reply.operations ?? 0) }
    hitRatio = Double(samples.reduce(0) { $0 + ($1.reply.hits ?? 0) }) / Double(max(1, lookups))
    let last = samples[samples.count - 1]
    (held, resident, neighbour) = (last.reply.heldBytes, last.reply.residentBytes, last.neighbour)
    let known = samples.compactMap(\.stalls)
    stalls = known.isEmpty ? nil : known.reduce(0, +) / Double(known.count)
    self.end = end
  }

  /// From the hit ratio on.
  var cells: [String] {
    let times = curve.percentiles([0.5, 0.999])
    let bytes = [held ?? 0, resident ?? 0, neighbour].map { fixed($0 / Double(1 << 20), 1) }
    return [fixed(hitRatio, 3), fixed(times[0], 0), fixed(times[1], 0)] + bytes
      + [stalls.map { fixed($0, 1) } ?? "unknown", end]
  }
}
