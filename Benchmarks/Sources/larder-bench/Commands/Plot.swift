// SPDX-License-Identifier: Apache-2.0
import Foundation

/// `larder-bench plot`: pictures of result files.
struct Plot: Command {
  static let name = "plot"
  static let summary = "pictures of result files: bars, latency and miss-ratio curves"
  static let help = """
    Usage: larder-bench plot FILE.json... [options]

    Draws what files written with --json hold together, with matplotlib (installed if it is
    missing), and prints the names of the pictures: throughput bars, latency curves, miss-ratio
    curves, growth and memory, each where there are results of the kind; and an overview where there
    are lookups of several threads and a replay. Machine and date are those of the first file.

      --format KIND          png (default) or svg
      --output DIRECTORY     where to put them (default: beside the first FILE)
    """

  private enum Format: String, Choice {
    case png, svg
    static let what = "format"
  }

  private let files: [String]
  private let format: Format
  private let directory: String

  init(_ words: some Sequence<String>) throws {
    let arguments = try Arguments(words, options: ["--format", "--output"])
    files = arguments.operands
    guard let first = files.first else { throw Failure("plot takes a FILE.json") }
    format = try arguments.choice("--format", default: .png)
    let beside = URL(fileURLWithPath: first).deletingLastPathComponent().path
    directory = arguments.text("--output") ?? beside
    for file in files {
      guard FileManager.default.isReadableFile(atPath: file), !Self.isDirectory(file) else {
        throw Failure("\(file) cannot be read")
      }
    }
    guard Self.isDirectory(directory), FileManager.default.isWritableFile(atPath: directory) else {
      throw Failure("\(directory) is not a directory that can be written")
    }
  }

  func run() throws -> Bool {
    let plot = Process()
    plot.executableURL = URL(fileURLWithPath: try benchmarksPath("Plot/plot"))
    plot.arguments = [directory, format.rawValue] + files
    try plot.run()
    plot.waitUntilExit()
    if plot.terminationStatus == 2 { exit(2) }  // it has said why
    guard plot.terminationStatus == 0 else { throw Trouble("nothing was drawn") }
    return true
  }

  private static func isDirectory(_ path: String) -> Bool {
    var isDirectory: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
      && isDirectory.boolValue
  }
}
