// SPDX-License-Identifier: Apache-2.0

/// The workloads to measure side by side: which implementations, which settings, how many at a
/// time.
struct Plan {
  var workloads: [Workload]
  var implementations: [Implementation]
  var method: Method
  var threads = [1]
  var keys = KeyKind.int
  var values = ValueKind.object
  var distribution = Distribution.zipf
  var entries = 1_000_000
  var capacity: Int?
  var policy: String?
  var shards: Int?
  /// If nil, measures throughput; otherwise latency at this rate, 0 for a closed loop.
  var rate: Double?

  /// Refuses more entries, and more keys in streams, than the machine's memory can hold at once.
  func refuseBeyondMemory(_ workload: Workload) throws {
    let capacity = capacity ?? workload.defaultCapacity(entries: entries)
    let caches = implementations.filter { $0.workloads.contains(workload) }
      .reduce(0) { $0 + $1.variants.count }
    // New keys fill all the room, however many entries are asked for. The weights of Zipf's law are
    // one number for each key.
    let least = KeyStreams.leastCount(workload, capacity: capacity)
    let held = least > 0 ? capacity : min(entries, capacity)
    let stream = method.requests + (least > 0 ? least : entries)
    try Arguments.refuseBeyondMemory(entries: held, caches: caches, numbers: stream)
  }

  /// Measures everything. Leaves out implementations that are not available or have no such
  /// workload, and names them in `results`.
  func outcomes(_ results: inout Results, _ progress: Progress) throws -> [Outcome] {
    let scratch = try ScratchDirectory()
    let available = RivalPrograms.available(implementations, &results)
    var comparisons: [Comparison] = []
    for workload in workloads {
      let able = available.filter { results.accepts($0, for: workload) }
      if able.isEmpty { continue }
      let capacity = capacity ?? workload.defaultCapacity(entries: entries)
      let streams = KeyStreams(
        workload, distribution, entries: entries, capacity: capacity, requests: method.requests)
      var configuration = Configuration(
        workload: workload.rawValue, operation: workload.operation, capacity: capacity,
        stream: try NumberFile(streams.stream, in: scratch))
      configuration.fill = try NumberFile(streams.fill, in: scratch)
      configuration.loadTime = workload.loadTime
      configuration.expires = workload.expires
      configuration.keys = keys
      configuration.values = values
      configuration.entries = entries
      configuration.policy = policy
      configuration.shards = shards
      for threads in threads {
        configuration.threads = threads
        comparisons.append(
          Comparison(
            configuration: configuration,
            implementations: able.filter { results.accepts($0, onThreads: threads) },
            method: method, rate: rate))
      }
    }
    for comparison in comparisons { comparison.announce(to: progress) }
    return try comparisons.flatMap { try $0.measure(progress) }
  }
}
