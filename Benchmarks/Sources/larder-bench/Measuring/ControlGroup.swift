// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A control group of Linux with a limit of memory, for processes of this program. It is removed
/// when the program ends or is interrupted.
final class ControlGroup {
  let path: String
  /// The file that tells how long tasks have waited for memory: the group's own if there is one.
  private let stalls: String

  /// - Throws: ``Trouble`` where this process may not make groups.
  init(bytes: Int) throws {
    var found: (path: String, isFirst: Bool)?
    for (mount, own, isFirst) in Self.hierarchies() {
      // Groups of version 2 that hold processes give no memory to groups below.
      var parent = own
      while found == nil {
        let path = mount + parent + "/larder-bench-\(getpid())"
        if mkdir(path, 0o755) == 0 {
          let limit = path + (isFirst ? "/memory.limit_in_bytes" : "/memory.max")
          if access(limit, W_OK) == 0 { found = (path, isFirst) } else { rmdir(path) }
        }
        guard let slash = parent.lastIndex(of: "/") else { break }
        parent = String(parent[..<slash])
      }
    }
    guard let (path, isFirst) = found else {
      throw Trouble("this process may not make control groups with a limit of memory")
    }
    self.path = path
    stalls =
      access(path + "/memory.pressure", R_OK) == 0
      ? path + "/memory.pressure" : "/proc/pressure/memory"
    Cleanup.shared.add(path)
    if isFirst {
      try Self.write(String(bytes), to: path + "/memory.limit_in_bytes")
      // Where the system counts swap. What is swapped out would count as given back.
      try? Self.write(String(bytes), to: path + "/memory.memsw.limit_in_bytes")
      try? Self.write("0", to: path + "/memory.swappiness")
    } else {
      // Above `memory.high` the system slows the group down, and says so before it kills.
      try Self.write(String(bytes / 16 * 15), to: path + "/memory.high")
      try Self.write(String(bytes), to: path + "/memory.max")
      try? Self.write("0", to: path + "/memory.swap.max")
    }
  }

  deinit { Cleanup.shared.remove(path) }

  /// For how many microseconds some task has waited for memory so far; nil if nothing tells.
  var stalledMicroseconds: Double? {
    guard let text = try? String(contentsOfFile: stalls, encoding: .utf8) else { return nil }
    let some = text.split(separator: "\n").first { $0.hasPrefix("some ") }
    return some?.split(separator: "=").last.flatMap { Double($0) }
  }

  /// Writes to a file of the system, which takes the text or refuses it at once.
  static func write(_ text: String, to path: String) throws {
    let file = open(path, O_WRONLY | O_CLOEXEC)
    defer { if file >= 0 { close(file) } }
    guard file >= 0, Glibc.write(file, text, text.utf8.count) == text.utf8.count else {
      throw Trouble("\(path) cannot be written: \(String(cString: strerror(errno)))")
    }
  }

  /// Where groups are mounted, and this process's own group below.
  private static func hierarchies() -> [(mount: String, own: String, isFirst: Bool)] {
    let lines = (try? String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8)) ?? ""
    return lines.split(separator: "\n").compactMap { line in
      let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3 else { return nil }
      let own = parts[2] == "/" ? "" : String(parts[2])
      if parts[1].split(separator: ",").contains("memory") {
        return ("/sys/fs/cgroup/memory", own, true)
      }
      return parts[1].isEmpty ? ("/sys/fs/cgroup", own, false) : nil
    }
  }
}
