// SPDX-License-Identifier: Apache-2.0
import CBench
import Foundation
import Larder

/// A cache of blocks of bytes that is read through, in a process of a control group.
///
///     sample SECONDS      serves so long; tells the hits, the times of lookups, and the memory
struct PressedBench: ChildBench {
  private let cache: Cache<UInt64, [UInt8]>
  private let stream: [UInt64]
  private let valueBytes: Int
  private let clock = TickClock()
  private let place = Place()

  /// Where in the stream the next sample begins.
  private final class Place { var next = 0 }

  init(_ settings: ChildSettings) throws {
    try enterGroup(settings)
    let bytes = settings.number("bytes")
    valueBytes = settings.number("value-bytes")
    cache = Cache(
      totalCostLimit: bytes,
      options: .init(pressure: settings.text("answers") == "no" ? .ignore : .default))
    // Four times the keys that fit.
    stream = ZipfSampler(keys: max(1, 4 * bytes / valueBytes)).stream(count: 1 << 20, seed: 3)
    for key in stream { read(key) }
  }

  func perform(_ command: String, _ numbers: [Double]) throws -> ChildReply {
    guard command == "sample", numbers.count == 1 else {
      throw Failure("a child does not know the command '\(command)' with these numbers")
    }
    var (hits, lookups, times) = (0, 0, Histogram())
    let end = lb_clock_ns(CLOCK_MONOTONIC) + UInt64(numbers[0] * 1e9)
    while lb_clock_ns(CLOCK_MONOTONIC) < end {
      for _ in 0..<16 {
        let key = stream[place.next & (stream.count - 1)]
        place.next += 1
        let begin = lb_ticks_begin()
        let value = cache.value(forKey: key)
        times.record(lb_ticks_end() &- begin)
        lookups += 1
        if value == nil { store(key) } else { hits += 1 }
      }
    }
    return ChildReply(
      operations: lookups, hits: hits, timerNs: clock.overheadNanoseconds,
      histogram: times.pairs(clock), residentBytes: Double(lb_anonymous_bytes()),
      heldBytes: Double(cache.totalCost))
  }

  private func read(_ key: UInt64) {
    if cache.value(forKey: key) == nil { store(key) }
  }

  private func store(_ key: UInt64) {
    cache.insert(
      [UInt8](repeating: UInt8(truncatingIfNeeded: key), count: valueBytes), forKey: key,
      cost: valueBytes)
  }
}

/// A process that takes more and more memory, and keeps it.
///
///     grow BYTES SECONDS      begins to take so much within so long
///     sample                  tells what it has
struct NeighbourBench: ChildBench {
  init(_ settings: ChildSettings) throws { try enterGroup(settings) }

  func perform(_ command: String, _ numbers: [Double]) throws -> ChildReply {
    if command == "grow", numbers.count == 2 {
      let (bytes, steps) = (Int(numbers[0]), max(1, Int(numbers[1] * 20)))
      let thread = Thread {
        for _ in 0..<steps {
          let part = UnsafeMutableRawPointer.allocate(byteCount: bytes / steps + 1, alignment: 16)
          memset(part, 1, bytes / steps + 1)
          lb_consume(UInt64(UInt(bitPattern: part)))
          usleep(50_000)
        }
      }
      thread.start()
    } else if command != "sample" {
      throw Failure("a child does not know the command '\(command)' with these numbers")
    }
    return ChildReply(residentBytes: Double(lb_anonymous_bytes()))
  }
}

/// Moves this process to the control group that the settings name.
private func enterGroup(_ settings: ChildSettings) throws {
  guard let group = settings.text("group") else { return }
  try ControlGroup.write("0", to: group + "/cgroup.procs")
}
