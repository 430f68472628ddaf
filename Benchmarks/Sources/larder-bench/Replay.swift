// SPDX-License-Identifier: Apache-2.0
import CBench
import Foundation

/// `larder-bench replay`: real requests through several caches, one table.
struct Replay {
  static let help = """
    Usage: larder-bench replay [TRACE ...] [options]

    Replays request traces, *.u64.zst or *.rec12.zst, through several caches: every request is a
    get, followed by a put when the key was missing. Without TRACE: the trace in Traces/.

      --entries N[,N...]     capacity of the caches in entries
      --size F[,F...]        capacity as a fraction of the trace's unique keys (default 0.1)
      --against NAME[,...]   what to measure, of: \(names.prefix(4).joined(separator: ", ")),
                             \(names.dropFirst(4).joined(separator: ", "))
                             (default \(defaultNames.joined(separator: ",")))
      --samples N            timed repetitions of each cache (default 9)
      --help                 this text
    """

  private static let names = Implementation.allCases.map(\.rawValue)
  private static let defaultNames = ["larder", "nscache", "class-lru", "index-lru", "dictionary"]
  private static let latencyPasses = 3
  /// Fewer entries would drown in what any process costs by itself, more might not fit.
  private static let entriesForMemory = 100_000...10_000_000

  private let implementations: [Implementation]
  private let samples: Int
  private let cases: [(trace: Trace, capacity: Int)]

  init(_ words: some Sequence<String>) throws {
    let arguments = try Arguments(
      words, options: ["--entries", "--size", "--against", "--samples"])
    if arguments.has("--entries"), arguments.has("--size") {
      throw Failure("--entries and --size exclude each other")
    }
    implementations = try arguments.list("--against", default: Self.defaultNames)
      .map(Implementation.init(named:))
    samples = try arguments.positiveInteger("--samples", default: 9)
    let entries = try arguments.list("--entries", default: [])
      .map { try Arguments.positiveInteger($0, for: "--entries") }
    let fractions = try arguments.list("--size", default: ["0.1"])
      .map { try Arguments.fraction($0, for: "--size") }

    let operands = arguments.operands
    let paths = try operands.isEmpty ? [defaultTracePath()] : operands
    var cases: [(Trace, Int)] = []
    for path in paths {
      let trace = try Trace(path: path)
      let capacities =
        entries.isEmpty
        ? fractions.map { Int((Double(trace.uniqueKeys) * $0).rounded()) } : entries
      for capacity in capacities {
        guard capacity > 0 else {
          throw Failure("\(path): this fraction of \(trace.uniqueKeys) unique keys is no entry")
        }
        cases.append((trace, capacity))
      }
    }
    self.cases = cases
  }

  func run() throws {
    let clock = TickClock()
    let progress = Progress()
    defer { progress.finish() }
    let subjects = try cases.map { trace, capacity in
      try implementations.map {
        try $0.accept(SubjectMaker(implementation: $0, trace: trace, capacity: capacity))
      }
    }
    for subject in subjects.joined() {
      progress.expect(samples + 1, of: subject.contender.label)
      progress.expect(Self.latencyPasses, of: subject.latencyLabel)
      progress.expect(1, of: subject.memoryLabel)
    }

    var table = Table(
      [
        "implementation", "trace", "entries", "hit ratio", "ns/request", "CPU ns/request", "p50",
        "p99", "p99.9", "bytes/entry",
      ], textColumns: ["trace"])
    for group in subjects {
      let series = interleaved(group.map(\.contender), rounds: samples, progress)
      var histograms = group.map { _ in Histogram() }
      for _ in 0..<Self.latencyPasses {
        for (index, subject) in group.enumerated() {
          progress.unit(of: subject.latencyLabel) { subject.timeEachRequest(&histograms[index]) }
        }
      }
      for (index, subject) in group.enumerated() {
        let bounds = Self.entriesForMemory
        let entries = min(max(subject.capacity, bounds.lowerBound), bounds.upperBound)
        let footprint = try progress.unit(of: subject.memoryLabel) {
          try Footprint.measured(
            inChildFor: subject.implementation.rawValue, entries: entries)
        }
        let percentiles = [0.5, 0.99, 0.999].map {
          fixed(clock.nanoseconds(histograms[index].percentile($0)), 0)
        }
        table.add(
          [
            subject.implementation.title, subject.trace.name, String(subject.capacity),
            fixed(Double(subject.result.hits) / Double(subject.trace.keys.count), 4),
            fixed(series[index].medianWall, 1), fixed(series[index].medianCPU, 1),
          ] + percentiles + [fixed(footprint.residentBytesPerEntry, 1)])
      }
    }
    progress.finish()
    print(table.markdown)
    writeToStandardError(
      """
      Times in nanoseconds, samples of each: \(samples); the timer's own \
      \(fixed(clock.overheadNanoseconds, 1)) ns are subtracted from p50, p99, p99.9.

      """)
  }
}

/// One implementation at one capacity on one trace.
private struct Subject {
  final class Result { var hits = 0 }

  let implementation: Implementation
  let trace: Trace
  let capacity: Int
  let contender: Contender
  let timeEachRequest: (inout Histogram) -> Void
  let result: Result

  var latencyLabel: String { "latency of \(contender.label)" }
  var memoryLabel: String { "memory of \(contender.label)" }
}

private struct SubjectMaker: RivalVisitor {
  let implementation: Implementation
  let trace: Trace
  let capacity: Int

  func visit<R: Rival>(_ type: R.Type) -> Subject where R.Key == UInt64, R.Value == Payload {
    let keys = trace.keys[...]
    let capacity = capacity
    let result = Subject.Result()
    let label = "\(implementation.rawValue), \(trace.name), \(capacity) entries"
    return Subject(
      implementation: implementation, trace: trace, capacity: capacity,
      contender: Contender(label: label) { _ in
        // Every repetition starts cold, as the hit ratio is defined; making and destroying the
        // cache is outside the clock.
        let rival = R(capacity: capacity)
        return withExtendedLifetime(rival) {
          Sample.measure(operations: keys.count) { result.hits = readThroughLoop(rival, keys) }
        }
      },
      timeEachRequest: { histogram in
        let rival = R(capacity: capacity)
        var ofHits = Histogram()
        timedReadThroughLoop(rival, keys, all: &histogram, ofHits: &ofHits)
      },
      result: result)
  }
}

/// `Benchmarks/run` names the directory of traces; without it, it is looked for around the
/// working directory and the program.
private func defaultTracePath() throws -> String {
  let file = "Traces/tw_c52.rec12.zst"
  var candidates = [file, "Benchmarks/" + file]
  if let root = ProcessInfo.processInfo.environment["LARDER_BENCHMARKS"] {
    candidates.insert(root + "/" + file, at: 0)
  }
  var directory = URL(fileURLWithPath: CommandLine.executablePath)
  while directory.path != "/" {
    directory.deleteLastPathComponent()
    candidates.append(directory.appendingPathComponent(file).path)
  }
  guard let found = candidates.first(where: FileManager.default.isReadableFile(atPath:)) else {
    throw Failure("\(file) is not here; name a trace, or run Benchmarks/run")
  }
  return found
}
