// SPDX-License-Identifier: Apache-2.0

/// What is measured, the same for every implementation of a comparison.
struct Configuration {
  var workload: String
  var operation: String
  var keys = KeyKind.int
  var values = ValueKind.object
  var threads = 1
  var entries: Int?
  var capacity: Int
  var costLimit = 0
  var policy: String?
  var shards: Int?
  var fill: NumberFile?
  var stream: NumberFile
  var costs: NumberFile?
  /// What each request does, where that differs.
  var actions: NumberFile?
  /// Where the parts of the stream end whose hits are counted by themselves.
  var parts: NumberFile?
  /// What a load takes, in microseconds, where the cache loads.
  var loadTime: Int?
  var trace: String?
  /// Every repetition takes the whole stream and begins with an empty cache.
  var isReplay = false
  /// Entries expire, and every repetition begins with an empty cache.
  var expires = false

  /// The words on the command line of children.
  func settings(for implementation: Implementation) -> [String: String] {
    var words = [
      "operation": operation, "keys": keys.rawValue, "values": values.rawValue,
      "threads": String(threads), "capacity": String(capacity), "cost-limit": String(costLimit),
      "stream": stream.path,
    ]
    words["load-us"] = loadTime.map(String.init)
    words["fill"] = fill?.path
    words["costs"] = costs?.path
    words["actions"] = actions?.path
    words["parts"] = parts?.path
    if isReplay || expires { words["fresh"] = "1" }
    if implementation.isLarder {
      words["policy"] = policy
      words["shards"] = shards.map(String.init)
    }
    return words
  }

  /// Its name in the line of progress.
  var label: String {
    let place = trace ?? workload
    let limit = "room for " + (costLimit > 0 ? "\(costLimit) bytes" : String(capacity))
    let team = "\(threads) thread\(threads == 1 ? "" : "s")"
    return [place, policy, limit, team].compactMap { $0 }.joined(separator: ", ")
  }
}

/// How often to measure, and how strictly to judge.
struct Method {
  static let options: Set<String> = ["--samples", "--operations", "--max-spread"]
  static let flags: Set<String> = ["--accept-spread"]
  static let help = """
      --samples N            timed repetitions of each implementation (default 9)
      --operations N         operations of a repetition at most (default 1048576); slow
                             implementations do fewer, about half a second's
      --max-spread F         refuse results whose middle half lies further apart than this share
                             of the median (default 0.25)
      --accept-spread        never refuse
    """

  var samples: Int
  var operations: Int
  var maximumSpread: Double

  init(_ arguments: Arguments, samples defaultSamples: Int = 9) throws {
    samples = try arguments.positiveInteger("--samples", default: defaultSamples)
    operations = try arguments.positiveInteger("--operations", default: 1 << 20)
    maximumSpread = try arguments.positiveNumber("--max-spread", default: 0.25)
    if arguments.has("--accept-spread") { maximumSpread = .infinity }
  }

  /// The words after a command that measures and takes no operands.
  static func arguments(
    _ words: some Sequence<String>, of command: String, options own: Set<String>
  ) throws -> Arguments {
    let arguments = try Arguments(words, options: options.union(own), flags: flags)
    try arguments.refuseOperands(of: command)
    return arguments
  }

  /// Requests a stream needs so that neither branch predictors nor the processor's caches learn it.
  var requests: Int { 4 * operations }
}
