// SPDX-License-Identifier: Apache-2.0
import CBench
import Foundation

/// Where and when something was measured.
struct Machine {
  let processor: String
  let cores = ProcessInfo.processInfo.activeProcessorCount
  let kernel: String
  let compiler: String
  let jemalloc: String?
  let date: String
  let loadAverage: Double

  init() {
    processor = Self.firstLine(of: "/proc/cpuinfo", after: "model name") ?? "unknown processor"
    var names = utsname()
    uname(&names)
    kernel = withUnsafeBytes(of: &names.release) {
      "Linux " + String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
    }
    compiler = Self.compilerVersion
    jemalloc = lb_jemalloc_version().map { String(cString: $0) }
    date = Date.now.formatted(.iso8601)
    var load = [0.0]
    loadAverage = getloadavg(&load, 1) == 1 ? load[0] : .nan
  }

  /// A text for captions.
  var sentence: String {
    "\(date.prefix(10)), \(processor), \(cores) cores, \(kernel), \(compiler), "
      + "jemalloc \(jemalloc.map { String($0.prefix { $0 != "-" }) } ?? "off"), "
      + "load \(fixed(loadAverage, 2))"
  }

  private static let compilerVersion: String = {
    let swift = Process()
    swift.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    swift.arguments = ["swift", "--version"]
    // Swift's driver leaves a directory behind in TMPDIR.
    let scratch = try? ScratchDirectory()
    swift.environment = ProcessInfo.processInfo.environment
      .merging(scratch.map { ["TMPDIR": $0.path] } ?? [:]) { $1 }
    defer { withExtendedLifetime(scratch) {} }
    let output = Pipe()
    swift.standardOutput = output
    swift.standardError = FileHandle.nullDevice
    guard (try? swift.run()) != nil else { return "Swift" }
    let said = String(
      decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    swift.waitUntilExit()
    // "Swift version 6.3.1 (swift-6.3.1-RELEASE)", after other words on some systems.
    guard let version = said.range(of: "Swift version ") else { return "Swift" }
    return "Swift " + said[version.upperBound...].prefix { $0 != " " && $0 != "\n" }
  }()

  private static func firstLine(of path: String, after name: String) -> String? {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
    return text.split(separator: "\n").first { $0.hasPrefix(name) }?
      .split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) }
  }
}
