// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A subcommand.
protocol Command: SendableMetatype {
  static var name: String { get }
  static var summary: String { get }
  static var help: String { get }
  init(_ arguments: some Sequence<String>) throws
  /// Returns false if a result was refused or a claim does not hold.
  func run() throws -> Bool
}

@main
struct Main {
  private static let commands: [any Command.Type] = [
    Throughput.self, Latency.self, Memory.self, Growth.self, Replay.self, Hits.self, Pressure.self,
    Relief.self, Plot.self, SearchPolicies.self, Claims.self, Summary.self,
  ]

  private static var help: String {
    let width = commands.map { $0.name.count }.max()! + 2
    let list = commands.map {
      "  " + $0.name.padding(toLength: width, withPad: " ", startingAt: 0) + $0.summary
    }
    return """
      Usage: larder-bench COMMAND [options]

      \(list.joined(separator: "\n"))

      larder-bench COMMAND --help lists the options. Results are a Markdown table on stdout and,
      with --json FILE, a list of objects. Exit status: 0 done, 1 refused or failed, 2 a mistake in
      the command line or a file. Implementations: \(Implementation.names).
      """
  }

  static func main() {
    do {
      guard fcntl(STDOUT_FILENO, F_GETFD) != -1 else { throw Trouble("stdout is closed") }
      exit(try run(CommandLine.arguments.dropFirst()) ? 0 : 1)
    } catch let failure as Failure {
      note(failure.message)
      exit(2)
    } catch let trouble as Trouble {
      note(trouble.message)
      exit(1)
    } catch {
      note(error.localizedDescription)
      exit(1)
    }
  }

  private static func run(_ words: ArraySlice<String>) throws -> Bool {
    guard let word = words.first, !["--help", "-h", "help"].contains(word) else {
      try printLines(help)
      return true
    }
    if word == childCommand {
      try runChild(words.dropFirst())
      return true
    }
    guard let command = commands.first(where: { $0.name == word }) else {
      let names = commands.map { $0.name }.joined(separator: ", ")
      throw Failure("unknown command '\(word)'; there are \(names)")
    }
    if words.contains("--help") || words.contains("-h") {
      try printLines(command.help)
      return true
    }
    return try command.init(words.dropFirst()).run()
  }
}
