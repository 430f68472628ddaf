// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The words after a subcommand, parsed. Options are `--name value` or `--name=value`, and flags
/// are `--name`. Anything else is an operand. Everything unknown is an error.
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
        guard flags.insert(name).inserted else { throw Failure("\(name) is given twice") }
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

  /// The comma-separated parts of an option's value. No part may occur twice.
  func list(_ name: String, default fallback: [String]) throws -> [String] {
    guard let value = values[name] else { return fallback }
    let parts = value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    return try Self.different(parts, for: name)
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
    let numbers = try list(name, default: []).map { try Self.positiveInteger($0, for: name) }
    return try Self.different(numbers, for: name)
  }

  /// Numbers of threads, no more than every system can start.
  func threads(default fallback: [Int] = [1]) throws -> [Int] {
    guard has("--threads") else { return fallback }
    let numbers = try list("--threads", default: []).map {
      try Self.positiveInteger($0, for: "--threads", upTo: 1024)
    }
    return try Self.different(numbers, for: "--threads")
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

  /// A number of operations a second, high enough for a repetition to end soon and low enough for
  /// the clock to tell the operations apart.
  func rate() throws -> Double {
    let rate = try positiveNumber("--rate", default: 1)
    guard (100...1e9).contains(rate) else {
      throw Failure("--rate must be from 100 to 1000000000, not '\(values["--rate"] ?? "")'")
    }
    return rate
  }

  func refuseOperands(of command: String) throws {
    if let operand = operands.first {
      throw Failure("\(command) takes no operand like '\(operand)'")
    }
  }

  /// Returns the list unless an element occurs twice, which would be measured twice.
  static func different<Value: Hashable>(_ values: [Value], for name: String) throws -> [Value] {
    var seen = Set<Value>()
    if let again = values.first(where: { !seen.insert($0).inserted }) {
      throw Failure("\(name) names \(again) twice")
    }
    return values
  }

  /// Refuses more than the machine's memory can hold: entries, by the least they take, in this
  /// number of caches side by side, and streams of this many numbers. Ignores the limits of control
  /// groups.
  static func refuseBeyondMemory(entries: Int, caches: Int = 1, numbers: Int = 0) throws {
    let needed = 24 * Double(entries) * Double(caches) + 8 * Double(numbers)
    let memory = Double(ProcessInfo.processInfo.physicalMemory)
    guard needed <= memory else {
      throw Failure(
        "this takes at least \(fixed(needed / 1e9, 0)) GB of memory, and this machine has "
          + "\(fixed(memory / 1e9, 0)) GB")
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
