// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The requests of one workload: the keys put before the clock starts, and the keys requested.
struct KeyStreams {
  let fill: [UInt64]
  let stream: [UInt64]

  /// - Parameter requests: The least number of requests in the stream. A measurement that needs
  ///   more begins again at its start.
  init(
    _ workload: Workload, _ distribution: Distribution, entries: Int, capacity: Int, requests: Int
  ) {
    switch workload {
    case .hotKey:
      fill = shuffledKeys(entries, seed: 4)
      stream = [UInt64](repeating: fill[fill.count / 2], count: requests)
    case .churn:
      let count = max(requests, Self.leastCount(workload, capacity: capacity))
      fill = (0..<UInt64(capacity)).map { scattered(UInt64(count) + $0) }
      stream = (0..<UInt64(count)).map(scattered)
    case .stampede:
      // New keys, each of them for all threads at about the same time.
      let count = max(requests, Self.leastCount(workload, capacity: capacity))
      fill = []
      stream = (0..<count).map { scattered(UInt64($0 / Self.crowd)) }
    case .resident, .mixed, .readThrough, .load, .slowLoad, .expiring:
      stream =
        switch distribution {
        case .zipf: ZipfSampler(keys: entries).stream(count: requests, seed: 3)
        case .uniform: uniformStream(over: entries, count: requests, seed: 3)
        }
      // Read-through caches fill themselves with what was requested last, not with arbitrary keys.
      fill = workload.holdsAllKeys ? shuffledKeys(entries, seed: 4) : stream
    }
  }

  /// The requests in a row for each key of a stampede.
  private static let crowd = 64

  /// Where keys are new forever, the requests that take enough of them: when the stream begins
  /// again, its first keys have long left the cache. 0 elsewhere.
  static func leastCount(_ workload: Workload, capacity: Int) -> Int {
    switch workload {
    case .churn: 8 * capacity
    case .stampede: 8 * crowd * capacity
    case .resident, .mixed, .hotKey, .readThrough, .load, .slowLoad, .expiring: 0
    }
  }
}

/// Numbers in a file, for children to map.
struct NumberFile {
  let path: String
  let count: Int

  init<Number: FixedWidthInteger>(_ numbers: [Number], in directory: ScratchDirectory) throws {
    path = directory.newPath()
    count = numbers.count
    let data = numbers.withUnsafeBytes { Data($0) }
    guard FileManager.default.createFile(atPath: path, contents: data) else {
      throw Trouble("\(path) cannot be written")
    }
  }
}

/// A directory that is removed when the program ends or is interrupted.
final class ScratchDirectory {
  let path: String
  private var files = 0

  init() throws {
    var template = Array((NSTemporaryDirectory() + "/larder-bench-XXXXXX").utf8CString)
    guard mkdtemp(&template) != nil else { throw Trouble("no temporary directory") }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    Cleanup.shared.add(path)
  }

  func newPath() -> String {
    files += 1
    return "\(path)/\(files)"
  }

  deinit { Cleanup.shared.remove(path) }
}
