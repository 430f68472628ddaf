// SPDX-License-Identifier: Apache-2.0

/// The size of the cache in a replay.
enum ReplayLimit: Hashable, CustomStringConvertible {
  case fraction(Double)
  case entries(Int)
  case bytes(Int)
  case fractionOfBytes(Double)

  static func all(_ arguments: Arguments) throws -> [ReplayLimit] {
    let given = ["--size", "--entries", "--bytes"].filter(arguments.has)
    guard given.count < 2 else { throw Failure("\(given[0]) and \(given[1]) exclude each other") }
    if arguments.has("--entries") {
      return try arguments.positiveIntegers("--entries", default: []).map { .entries($0) }
    }
    if arguments.has("--bytes") {
      let limits = try arguments.list("--bytes", default: []).map { word in
        if word.contains(".") {
          return ReplayLimit.fractionOfBytes(try Arguments.fraction(word, for: "--bytes"))
        }
        guard let bytes = Int(word), bytes > 0 else {
          throw Failure("--bytes must be a whole number above 0 or a fraction, not '\(word)'")
        }
        return .bytes(bytes)
      }
      return try Arguments.different(limits, for: "--bytes")
    }
    let limits = try arguments.list("--size", default: ["0.1"]).map {
      ReplayLimit.fraction(try Arguments.fraction($0, for: "--size"))
    }
    return try Arguments.different(limits, for: "--size")
  }

  /// As written on the command line.
  var description: String {
    switch self {
    case .fraction(let part), .fractionOfBytes(let part): "\(part)"
    case .entries(let number), .bytes(let number): "\(number)"
    }
  }

  /// The same in entries or bytes.
  func resolved(for trace: Trace) throws -> ReplayLimit {
    switch self {
    case .entries: return self
    case .fraction(let fraction):
      let entries = Self.share(fraction, of: trace.uniqueKeys)
      guard entries > 0 else {
        throw Failure(
          "\(trace.path): --size \(fraction) of \(trace.uniqueKeys) unique keys is below one")
      }
      return .entries(entries)
    case .bytes, .fractionOfBytes:
      guard let footprint = trace.footprint else {
        throw Failure("\(trace.path): --bytes needs a trace with sizes, *.rec12.zst")
      }
      guard case .fractionOfBytes(let fraction) = self else { return self }
      let bytes = Self.share(fraction, of: footprint)
      guard bytes > 0 else {
        throw Failure("\(trace.path): --bytes \(fraction) of \(footprint) bytes is below one")
      }
      return .bytes(bytes)
    }
  }

  /// Rounded halves to even, as in most reference tables.
  private static func share(_ fraction: Double, of whole: Int) -> Int {
    Int((fraction * Double(whole)).rounded(.toNearestOrEven))
  }

  /// As a number of entries; where bytes are limited, of entries of the mean size.
  func entries(in trace: Trace) -> Int {
    switch self {
    case .entries(let entries): return entries
    case .bytes(let bytes):
      let mean = Double(trace.footprint ?? 0) / Double(trace.uniqueKeys)
      return Int(min(Double(bytes) / mean, Double(trace.keys.count)))
    case .fraction, .fractionOfBytes: preconditionFailure("the limit is not resolved")
    }
  }

  func apply(to configuration: inout Configuration) {
    switch self {
    case .entries(let entries): configuration.capacity = entries
    case .bytes(let bytes): configuration.costLimit = bytes
    case .fraction, .fractionOfBytes: preconditionFailure("the limit is not resolved")
    }
  }
}
