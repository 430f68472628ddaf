// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The subcommand that runs one Swift implementation in a process of its own. Not for users.
let childCommand = "child"

/// Serves the parent until the end of the input: one command a line on stdin, one JSON object a
/// line on stdout. Benchmarks/Rivals/README.md describes these lines, which children in other
/// languages read and write as well.
func runChild(_ words: some Collection<String>) throws {
  let settings = try ChildSettings(words)
  switch settings.text("operation") {
  case "serve": return try serve(PressedBench(settings))
  case "grow": return try serve(NeighbourBench(settings))
  case "relieve":
    let bytes = settings.number("value-bytes")
    if bytes == 0 { return try serve(ReliefBench(settings) { $0 }) }
    // An array's own header is 32 bytes of its block.
    return try serve(
      ReliefBench(settings) { [UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: bytes - 32) }
    )
  default: break
  }
  let keys = try KeyKind(settings.text("keys") ?? "int")
  let values = try ValueKind(settings.text("values") ?? "object")
  try withRival(
    settings.variant == "larder-batch" ? "larder" : settings.variant, keys: keys, values: values,
    ChildVisitor(settings: settings))
}

private struct ChildVisitor: RivalVisitor {
  let settings: ChildSettings

  func visit<R: Rival>(_ type: R.Type) throws {
    if settings.text("operation") == nil {
      return try serve(FillingBench<R>(limits: settings.limits))
    }
    switch settings.text("operation") {
    case "get":
      if settings.variant == "larder-batch" {
        try serve(BatchBench<R.Key, R.Value>(settings))
      } else {
        try serve(StepBench<R, GetStep>(settings))
      }
    case "expiring":
      typealias Dates = IndexList<R.Key, Dated<R.Value>>
      switch settings.variant {
      case "index-lru-mutex": try serveExpiring(DatedLRU<R.Key, R.Value, MutexGuard<Dates>>.self)
      case "index-lru-nslock": try serveExpiring(DatedLRU<R.Key, R.Value, NSLockGuard<Dates>>.self)
      default: try serveExpiring(LarderExpiring<R.Key, R.Value>.self)
      }
    case "load": try serve(StepBench<LarderLoading<R.Key, R.Value>, GetStep>(settings))
    case "mixed": try serve(StepBench<R, MixedStep>(settings))
    case "put": try serve(StepBench<R, PutStep>(settings))
    case "read-through":
      if settings.text("costs") == nil {
        try serve(StepBench<R, ReadThroughStep>(settings))
      } else if settings.number("cost-limit") == 0 {
        try serve(StepBench<R, SizedReadThroughStep>(settings))
      } else {
        try serve(StepBench<R, CostedReadThroughStep>(settings))
      }
    case "script":
      if settings.number("cost-limit") == 0 {
        try serve(StepBench<R, ScriptStep>(settings))
      } else {
        try serve(StepBench<R, CostedScriptStep>(settings))
      }
    default: throw Failure("there is no such operation")
    }
  }

  private func serveExpiring<R: Rival>(_ type: R.Type) throws {
    try serve(StepBench<R, ReadThroughStep>(settings))
  }
}

private func serve(_ bench: some ChildBench) throws {
  report(ChildReply())  // set up, ready
  while let line = readLine() {
    let words = line.split(separator: " ").map(String.init)
    let numbers = words.dropFirst().map { Double($0) ?? 0 }
    report(try bench.perform(words.first ?? "", numbers))
  }
}

private func report(_ reply: ChildReply) {
  let encoder = JSONEncoder()
  guard let line = try? encoder.encode(reply) else { preconditionFailure("cannot be encoded") }
  FileHandle.standardOutput.write(line + [UInt8(ascii: "\n")])
}

/// Performs the commands of the parent.
protocol ChildBench {
  func perform(_ command: String, _ numbers: [Double]) throws -> ChildReply
}

/// A line from a child: the result of one command.
struct ChildReply: Codable {
  var operations: Int?
  var wallNs: Double?  // from the first thread's start to the last one's end
  var cpuNs: Double?  // of all threads together
  var hits: Int?
  var hitCosts: Int?
  var expired: Double?  // of what has left the cache, the part that did so by time
  var partHits: [Int]?  // of the parts in which the stream is counted
  var lookups: Int?  // nil: every operation was one
  var timerNs: Double?  // what timing one operation costs; already subtracted
  /// Pairs of nanoseconds and the number of operations that took about as long.
  var histogram: [[Double]]?
  var residentBytes: Double?
  var allocatedBytes: Double?  // by the allocator's own count
  var heldBytes: Double?  // the values in a cache
  var relief: ReliefReply?
  var steps: [GrowthStep]?
  /// The machine's own pauses in a loop that only reads the clock, for as long as the steps took
  /// but ten seconds at most.
  var stalls: [[Double]]?
  var note: String?
}

/// What critical pressure did to a cache, all memory in bytes.
struct ReliefReply: Codable {
  var full: Double  // what the full cache had
  var needed: Double  // that share of it which the entries left are
  var atOnce: Double  // when the report had returned
  var left: Double  // two seconds later
  var nanoseconds: Double  // of the report
  var reads: [[[Double]]]  // histograms before, during, and in the two seconds after
}

/// The insertions from the end of the last step up to `entries`.
struct GrowthStep: Codable {
  var entries: Int
  var operations: Int
  var wallNs: Double  // of the insertions alone
  var cpuNs: Double  // of the whole loop, which makes keys and values, too
  var histogram: [[Double]]
}
