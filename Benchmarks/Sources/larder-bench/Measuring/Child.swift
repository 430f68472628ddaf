// SPDX-License-Identifier: Apache-2.0
import Foundation

/// One implementation in a process of its own, which does its own timing.
final class Child {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var unread = Data()
  private let name: String

  /// Starts the process of an implementation. `settings` become `name=value` words. The set-up goes
  /// on until ``ready()``.
  convenience init(
    _ variant: Implementation.Variant, of implementation: Implementation,
    _ settings: [String: String]
  ) throws {
    switch implementation.home {
    case .swift: try self.init(variant.name, settings)
    case .elsewhere:
      let program = try RivalPrograms.path(of: implementation)
      try self.init(variant.name, settings, program, before: [])
    }
  }

  /// Starts this program as a child; see ``runChild(_:)``.
  convenience init(_ name: String, _ settings: [String: String]) throws {
    try self.init(name, settings, CommandLine.executablePath, before: [childCommand])
  }

  private init(
    _ name: String, _ settings: [String: String], _ program: String, before words: [String]
  ) throws {
    self.name = name
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = words + [name] + settings.map { "\($0)=\($1)" }.sorted()
    process.standardInput = input
    process.standardOutput = output
    do { try process.run() } catch { throw Trouble("\(name) cannot be started: \(error)") }
    Cleanup.shared.add(child: process.processIdentifier)
  }

  deinit {
    try? input.fileHandleForWriting.close()
    // Its work is done. Do not wait until it has destroyed a large cache.
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    Cleanup.shared.forget(child: process.processIdentifier)
  }

  /// Whether somebody has killed it, as the system does when memory is short.
  var wasKilled: Bool {
    !process.isRunning && process.terminationReason == .uncaughtSignal
      && process.terminationStatus == SIGKILL
  }

  /// Waits for the end of the set-up.
  func ready() throws { _ = try reply() }

  func perform(_ command: String) throws -> ChildReply {
    do {
      try input.fileHandleForWriting.write(contentsOf: Data("\(command)\n".utf8))
    } catch { throw Trouble("\(name) has ended early") }
    return try reply()
  }

  private func reply() throws -> ChildReply {
    while true {
      if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
        let line = unread[unread.startIndex..<end]
        unread = Data(unread[(end + 1)...])
        guard let reply = try? JSONDecoder().decode(ChildReply.self, from: line) else {
          throw Trouble("\(name) answered \(String(decoding: line, as: UTF8.self))")
        }
        return reply
      }
      let more = output.fileHandleForReading.availableData
      if more.isEmpty {
        process.waitUntilExit()
        throw Trouble("\(name) has ended early, with status \(process.terminationStatus)")
      }
      unread += more
    }
  }
}

extension CommandLine {
  /// The file of the running program, even if it was found through PATH.
  static var executablePath: String {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? arguments[0]
  }
}
