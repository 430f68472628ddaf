// SPDX-License-Identifier: Apache-2.0

/// The words after a subcommand, taken apart. Options are `--name value` or `--name=value`, flags
/// are `--name`; what is neither is an operand. Everything unknown is an error.
struct Arguments {
  private(set) var operands: [String] = []
  private var values: [String: String] = [:]
  private var flags: Set<String> = []

  init(
    _ words: some Sequence<String>, options: Set<String>, flags known: Set<String> = []
  ) throws {
    var words = words.makeIterator()
    while let word = words.next() {
      guard word.hasPrefix("-"), word != "-" else {
        operands.append(word)
        continue
      }
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts[0])
      if known.contains(name) {
        guard parts.count == 1 else { throw Failure("\(name) takes no value") }
        flags.insert(name)
        continue
      }
      guard options.contains(name) else { throw Failure("unknown option \(name); try --help") }
      guard let value = parts.count == 2 ? String(parts[1]) : words.next(), !value.isEmpty else {
        throw Failure("\(name) needs a value")
      }
      guard values.updateValue(value, forKey: name) == nil else {
        throw Failure("\(name) is given twice")
      }
    }
  }

  func has(_ name: String) -> Bool { values[name] != nil || flags.contains(name) }

  func text(_ name: String) -> String? { values[name] }

  /// The comma-separated parts of an option's value.
  func list(_ name: String, default fallback: [String]) -> [String] {
    guard let value = values[name] else { return fallback }
    return value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
  }

  func choice<Value: Choice>(_ name: String, default fallback: Value) throws -> Value {
    try values[name].map(Value.init) ?? fallback
  }

  func positiveInteger(_ name: String, default fallback: Int) throws -> Int {
    try values[name].map { try Self.positiveInteger($0, for: name) } ?? fallback
  }

  func optionalPositiveInteger(_ name: String) throws -> Int? {
    try values[name].map { try Self.positiveInteger($0, for: name) }
  }

  func positiveIntegers(_ name: String, default fallback: [Int]) throws -> [Int] {
    guard has(name) else { return fallback }
    return try list(name, default: []).map { try Self.positiveInteger($0, for: name) }
  }

  /// Numbers of threads: no more than a system is sure to start.
  func threads(default fallback: [Int] = [1]) throws -> [Int] {
    guard has("--threads") else { return fallback }
    return try list("--threads", default: []).map {
      try Self.positiveInteger($0, for: "--threads", upTo: 1024)
    }
  }

  /// A number of shards that a cache may have.
  func shards() throws -> Int? {
    try values["--shards"].map { try Self.positiveInteger($0, for: "--shards", upTo: 64) }
  }

  func positiveNumber(_ name: String, default fallback: Double) throws -> Double {
    guard let value = values[name] else { return fallback }
    guard let number = Double(value), number > 0, number < .infinity else {
      throw Failure("\(name) must be a number above 0, not '\(value)'")
    }
    return number
  }

  func refuseOperands(of command: String) throws {
    if let operand = operands.first {
      throw Failure("\(command) takes no operand, but there is '\(operand)'")
    }
  }

  static func positiveInteger(
    _ text: String, for name: String, upTo most: Int = Int(Int32.max)
  ) throws -> Int {
    guard let number = Int(text), number > 0, number <= most else {
      throw Failure("\(name) must be a whole number from 1 to \(most), not '\(text)'")
    }
    return number
  }

  static func fraction(_ text: String, for name: String) throws -> Double {
    guard let number = Double(text), number > 0, number <= 1 else {
      throw Failure("\(name) must be above 0 and at most 1, not '\(text)'")
    }
    return number
  }
}
