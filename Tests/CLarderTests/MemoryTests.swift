// SPDX-License-Identifier: Apache-2.0
import CMemory
import Foundation
import Larder
import Testing

/// The limits of control groups, read from files that the tests write.
@Suite("Physical memory")
struct MemoryTests {
  /// The limit in a tree of such files, given as texts by their paths below its root.
  private func limit(_ membership: String, _ files: [String: String]) throws -> UInt64 {
    let root = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: root) }
    for (path, text) in files {
      let file = root.appending(path: "mount/" + path)
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
    }
    try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
    let listed = root.appending(path: "membership")
    try Data(membership.utf8).write(to: listed)
    return lrd_memory_of_groups(listed.path, root.appending(path: "mount").path)
  }

  @Test("Version 2: the lowest limit on the way up counts")
  func version2() throws {
    let files = [
      "memory.max": "max\n", "a/memory.max": "4096\n", "a/b/memory.max": "max\n",
      "a/b/c/memory.max": "8192\n",
    ]
    #expect(try limit("0::/\n", files) == .max)
    #expect(try limit("0::/a/b/c\n", files) == 4096)
    #expect(try limit("0::/a/b/absent\n", files) == 4096)
    #expect(try limit("0::/other\n", files) == .max)
    #expect(try limit("0::/\n", ["memory.max": "77\n"]) == 77)
  }

  @Test("Version 1: the controller's own tree, or its root where a container sees only that")
  func version1() throws {
    let membership = "12:cpu,cpuacct:/job\n7:blkio,memory:/job\n1:name=systemd:/job\n"
    let unlimited = "9223372036854771712\n"
    let root = "memory/memory.limit_in_bytes"
    let job = "memory/job/memory.limit_in_bytes"
    #expect(try limit(membership, [root: unlimited, job: "5000\n"]) == 5000)
    #expect(try limit(membership, [root: "6000\n"]) == 6000)
    #expect(try limit(membership, ["cpu/job/memory.limit_in_bytes": "1\n"]) == .max)
    #expect(try limit("3:nomemory:/\n3:memoryx:/\n", [root: "6000\n"]) == .max)
  }

  @Test("Version 2 beside version 1: the lowest limit of both counts")
  func bothVersions() throws {
    let membership = "4:memory:/job\n1:name=systemd:/job\n0::/a/b\n"
    let files = [
      "memory/job/memory.limit_in_bytes": "8192\n", "unified/a/memory.max": "5000\n",
      "unified/a/b/memory.max": "max\n",
    ]
    #expect(try limit(membership, files) == 5000)
    #expect(try limit("4:memory:/job\n0::/\n", files) == 8192)
  }

  @Test("A file that cannot be read sets no limit")
  func unreadable() throws {
    #expect(lrd_memory_of_groups("/nonexistent", "/nonexistent") == .max)
    let long = String(repeating: "x", count: 9_000)
    for text in ["", "\n", "0\n", "::", "0:", "0::", ":::::\n", long, "0::/" + long] {
      #expect(try limit(text, [:]) == .max)
    }
    #expect(try limit("0::/a\n", ["a/memory.max": "", "memory.max": "nonsense\n"]) == .max)
  }

  @Test("A share is a part of the memory, and never 0")
  func shareOfMemory() {
    let size = PhysicalMemory.size
    #expect(size > 1 << 20 && UInt64(size) <= ProcessInfo.processInfo.physicalMemory)
    #expect(PhysicalMemory.share(1) <= size && PhysicalMemory.share(1) > size / 2)
    #expect(abs(PhysicalMemory.share(0.25) - size / 4) <= size / 100)
    #expect(PhysicalMemory.share(.leastNonzeroMagnitude) == 1)
  }

  @Test("A fraction out of range stops the process")
  func badFraction() async {
    await #expect(processExitsWith: .failure) { _ = PhysicalMemory.share(0) }
    await #expect(processExitsWith: .failure) { _ = PhysicalMemory.share(1.01) }
    await #expect(processExitsWith: .failure) { _ = PhysicalMemory.share(.nan) }
  }
}
