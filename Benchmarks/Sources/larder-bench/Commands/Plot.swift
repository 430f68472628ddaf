// SPDX-License-Identifier: Apache-2.0
import Foundation

/// `larder-bench plot`: pictures of result files.
struct Plot: Command {
  static let name = "plot"
  static let summary = "pictures of a result file: bars, latency and miss-ratio curves"
  static let help = """
    Usage: larder-bench plot FILE.json [options]

    Draws what a file written with --json holds, with matplotlib (installed if it is missing), and
    prints the names of the pictures: throughput bars, latency curves, miss-ratio curves, growth and
    memory, each where there are results of the kind.

      --format KIND          png (default) or svg
      --output DIRECTORY     where to put them (default: beside FILE)
    """

  private enum Format: String, Choice {
    case png, svg
    static let what = "format"
  }

  private let file: String
  private let format: Format
  private let directory: String

  init(_ words: some Sequence<String>) throws {
    let arguments = try Arguments(words, options: ["--format", "--output"])
    guard arguments.operands.count == 1 else { throw Failure("plot takes one FILE.json") }
    file = arguments.operands[0]
    format = try arguments.choice("--format", default: .png)
    let beside = URL(fileURLWithPath: file).deletingLastPathComponent().path
    directory = arguments.text("--output") ?? beside
    guard FileManager.default.isReadableFile(atPath: file), !Self.isDirectory(file) else {
      throw Failure("\(file) cannot be read")
    }
    guard Self.isDirectory(directory), FileManager.default.isWritableFile(atPath: directory) else {
      throw Failure("\(directory) is not a directory that can be written")
    }
  }

  func run() throws -> Bool {
    let plot = Process()
    plot.executableURL = URL(fileURLWithPath: try benchmarksPath("Plot/plot"))
    plot.arguments = [file, directory, format.rawValue]
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
