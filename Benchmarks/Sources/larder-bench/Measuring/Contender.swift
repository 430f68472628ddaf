// SPDX-License-Identifier: Apache-2.0

/// One variant of an implementation in a comparison: its process, its position in the stream, and
/// its results so far.
final class Contender {
  let implementation: Implementation
  let variant: Implementation.Variant
  let label: String
  private(set) var series = Series()
  private(set) var curve = LatencyCurve()
  private(set) var timer = 0.0
  /// Wall time of an operation in the last warm-up, in nanoseconds; 0 without one.
  private(set) var warmUpWall = 0.0
  private let configuration: Configuration
  private let child: Child
  private var position = 0
  private var operations = 0

  init(
    _ implementation: Implementation, _ variant: Implementation.Variant,
    _ configuration: Configuration
  ) throws {
    self.implementation = implementation
    self.variant = variant
    self.configuration = configuration
    label = "\(variant.name): \(configuration.label)"
    child = try Child(variant, of: implementation, configuration.settings(for: implementation))
  }

  func ready() throws { try child.ready() }

  /// Measures a small repetition to decide how long a full one is.
  func probe(atMost most: Int) throws {
    if configuration.isReplay {
      operations = configuration.stream.count
      return
    }
    let unit = 64 * configuration.threads
    operations = min(most, 1 << 14) / unit * unit
    guard operations > 0 else { throw Failure("--operations must be at least \(unit) here") }
    let reply = try round()
    let target = 0.5e9  // nanoseconds
    let affordable = Int(target / max(1, (reply.wallNs ?? 1) / Double(operations)))
    operations = max(operations, min(most, affordable) / unit * unit)
  }

  func warmUp() throws {
    let reply = try round()
    warmUpWall = (reply.wallNs ?? 0) / Double(max(1, operations))
    if configuration.expires { try chooseLifetime(by: reply) }
  }

  /// Has entries live so long that about a third of them die by time, at the pace of `reply`.
  private func chooseLifetime(by reply: ChildReply) throws {
    guard let operations = reply.operations, let hits = reply.hits, let wall = reply.wallNs else {
      return
    }
    // An entry that nobody asks for leaves once as many others have come as there is room for. It
    // dies before with a probability of 1 - exp(-stay / mean).
    let stay = wall * Double(configuration.capacity) / Double(max(1, operations - hits))
    _ = try child.perform("lifetime \(stay * Self.lifetimesOfStay)")
  }

  /// 1 / ln(3 / 2), with which a third dies.
  private static let lifetimesOfStay = 2.47
  func sample() throws { try series.add(try round()) }

  /// One repetition that times every operation. `rate` is in operations a second, or 0 for a closed
  /// loop.
  func sampleLatency(rate: Double) throws {
    let seconds = 1.0
    if rate > 0 { operations = min(operations, max(1024, Int(rate * seconds))) }
    let reply = try child.perform("latency \(next()) \(rate)")
    guard let histogram = reply.histogram else { throw Trouble("\(variant.name) has no histogram") }
    var own = LatencyCurve()
    own.add(histogram)
    curve.add(histogram)
    timer = reply.timerNs ?? 0
    let middle = own.percentiles([0.5])[0] * Double(reply.operations ?? 0)
    var judged = reply  // repetitions are compared by their medians
    (judged.wallNs, judged.cpuNs) = (middle, middle)
    try series.add(judged)
  }

  private func round() throws -> ChildReply { try child.perform("round \(next())") }

  /// The next part of the stream: its start, its length, and the requests before the clock starts.
  private func next() -> String {
    let lead =
      configuration.isReplay
      ? 0
      // Enough to fill a cache that is empty.
      : configuration.expires ? operations : min(operations / 8, 1 << 15) / 64 * 64
    if position + lead + operations > configuration.stream.count { position = 0 }
    defer { position += lead + operations }
    return "\(position) \(operations) \(lead)"
  }
}
