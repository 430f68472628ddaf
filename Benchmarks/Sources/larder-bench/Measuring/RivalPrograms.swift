// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The rivals in other languages: programs that `Benchmarks/Rivals/build` makes from source when
/// they are first needed, with packages that may or may not be installed.
enum RivalPrograms {
  /// Builds what can be built. Names the others on stderr, each with the command that installs what
  /// it needs.
  static func available(
    _ implementations: [Implementation], _ results: inout Results
  ) -> [Implementation] {
    implementations.filter { implementation in
      guard case .elsewhere(let packages) = implementation.home else { return true }
      do {
        _ = try path(of: implementation)
        return true
      } catch {
        results.skip(
          "\(implementation.name) is skipped: it cannot be built here; apt-get install \(packages)")
        return false
      }
    }
  }

  /// The program of `implementation`, built if necessary.
  static func path(of implementation: Implementation) throws -> String {
    let build = Process()
    build.executableURL = URL(fileURLWithPath: try benchmarksPath("Rivals/build"))
    build.arguments = [implementation.name]
    let output = Pipe()
    build.standardOutput = output
    build.standardError = FileHandle.nullDevice
    try build.run()
    let said = output.fileHandleForReading.readDataToEndOfFile()
    build.waitUntilExit()
    guard build.terminationStatus == 0 else {
      throw Trouble("\(implementation.name) cannot be built")
    }
    return String(decoding: said, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }
}

/// A file in the directory Benchmarks. `Benchmarks/run` names the directory. Otherwise this looks
/// for it around the working directory and the program.
func benchmarksPath(_ file: String) throws -> String {
  var candidates = [file, "Benchmarks/" + file]
  if let root = ProcessInfo.processInfo.environment["LARDER_BENCHMARKS"] {
    candidates.insert(root + "/" + file, at: 0)
  }
  var directory = URL(fileURLWithPath: CommandLine.executablePath)
  while directory.path != "/" {
    directory.deleteLastPathComponent()
    candidates.append(directory.appendingPathComponent(file).path)
  }
  guard let found = candidates.first(where: FileManager.default.isReadableFile(atPath:)) else {
    throw Failure("\(file) is missing; start this program with Benchmarks/run")
  }
  return found
}
