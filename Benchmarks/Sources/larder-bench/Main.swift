// SPDX-License-Identifier: Apache-2.0
import Foundation

@main
struct Main {
  static let help = """
    Usage: larder-bench [replay] [TRACE ...] [options]
           larder-bench claims [options]

      replay   replays request traces through several caches and prints a table (the default)
      claims   measures every speed and memory ratio Larder claims, in one run

    larder-bench replay --help and larder-bench claims --help list the options.
    """

  static func main() {
    do {
      try run(CommandLine.arguments.dropFirst())
    } catch let failure as Failure {
      writeToStandardError("larder-bench: \(failure.message)\n")
      exit(2)
    } catch {
      writeToStandardError("larder-bench: \(error.localizedDescription)\n")
      exit(1)
    }
  }

  private static func run(_ words: ArraySlice<String>) throws {
    let command = words.first ?? "replay"
    let rest = words.dropFirst()
    let asksForHelp = rest.contains("--help") || rest.contains("-h")
    switch command {
    case "--help", "-h": print(help)
    case memoryChildCommand: try runMemoryChild(rest)
    case "claims": if asksForHelp { print(Claims.help) } else { try Claims(rest).run() }
    case "replay": if asksForHelp { print(Replay.help) } else { try Replay(rest).run() }
    default: if asksForHelp { print(Replay.help) } else { try Replay(words).run() }
    }
  }
}
