// SPDX-License-Identifier: Apache-2.0
import CBench
import Larder

/// Hits by `values(forKeys:)`, 64 keys in each call, on one thread. The arrays of keys are made
/// outside the clock. The arrays of results are made inside it, because users pay for them.
final class BatchBench<Key: RequestKey, Value: Measurable>: ChildBench {
  private static var width: Int { 64 }
  private let batches: [[Key]]
  private let cache: Cache<Key, Value>

  init(_ settings: ChildSettings) throws {
    let requests = try Requests<Key>(keyFile: settings.text("stream"), costFile: nil)
    batches = stride(from: 0, to: requests.keys.count - Self.width + 1, by: Self.width).map {
      Array(requests.keys[$0..<$0 + Self.width])
    }
    cache = Cache(settings.limits)
    for number in try mapped(settings.text("fill") ?? "", as: UInt64.self) {
      cache.insert(Value(number), forKey: Key(number: number))
    }
  }

  func perform(_ command: String, _ numbers: [Double]) throws -> ChildReply {
    guard command == "round" && numbers.count == 3 else {
      throw Failure("larder-batch times whole batches, not single lookups")
    }
    let first = Int(numbers[0]) / Self.width
    let lead = first..<first + Int(numbers[2]) / Self.width
    let timed = lead.upperBound..<lead.upperBound + Int(numbers[1]) / Self.width
    let team = runTogether(
      1, preparation: { [self] _ in _ = lookUp(lead) }, { [self] _ in lookUp(timed) })
    return ChildReply(
      operations: timed.count * Self.width, wallNs: team.wall, cpuNs: team.cpu,
      hits: team.results[0])
  }

  private func lookUp(_ range: Range<Int>) -> Int {
    var sum: UInt64 = 0
    var hits = 0
    for batch in batches[range] {
      for case let value? in cache.values(forKeys: batch) {
        sum &+= value.number
        hits += 1
      }
    }
    lb_consume(sum)
    return hits
  }
}
extension BatchBench: @unchecked Sendable {}  // Not written after creation.
