// SPDX-License-Identifier: Apache-2.0
import Larder

/// The settings on the command line of a child process, as `name=value` words. Children in other
/// languages (Rivals/) read the same words.
struct ChildSettings {
  let variant: String
  private let words: [String: String]

  init(_ words: some Collection<String>) throws {
    guard let variant = words.first else { throw Failure("a child needs a variant") }
    self.variant = variant
    self.words = try Dictionary(
      words.dropFirst().map { word in
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { throw Failure("a child cannot read '\(word)'") }
        return (String(parts[0]), String(parts[1]))
      }, uniquingKeysWith: { $1 })
  }

  func text(_ name: String) -> String? { words[name] }
  func number(_ name: String) -> Int { words[name].flatMap(Int.init) ?? 0 }

  var limits: Limits {
    Limits(
      capacity: number("capacity"), costLimit: number("cost-limit"),
      policy: text("policy").flatMap(EvictionPolicy.init(rawValue:)) ?? .default,
      shards: words["shards"].flatMap(Int.init), loadTime: number("load-us"))
  }
}
