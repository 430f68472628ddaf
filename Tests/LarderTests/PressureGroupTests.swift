// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

#if canImport(Glibc)
  import Glibc

  /// What the process's control group says, by files of a fake root.
  @Suite("Control groups as sources of memory pressure")
  struct PressureGroupTests {
    private static func level(becomes level: MemoryPressure.Level) {
      waitUntil("the level becomes \(level)") { MemoryPressure.current == level }
    }

    @Test("A group's usage counts, but not what can be dropped", arguments: [1, 2])
    func usage(version: Int) async {
      await #expect(processExitsWith: .success) { [version] in
        let root = FakeRoot()
        MemoryPressure.setRoot(root.path)
        // With version 2, usage is read when something else is. With version 1 nothing else need be.
        if version == 2 { root.stalls("proc/pressure/memory", some: "0.00") }
        // Less than a thousandth of the limit.
        root.group(version: version, used: 500)
        let cache = PressureTests.filled()
        usleep(300_000)
        #expect(MemoryPressure.current == .normal)
        root.group(version: version, used: 900_000)
        Self.level(becomes: .warning)
        waitUntil("the cache answers") { cache.count == 50 }
        root.group(version: version, used: 960_000)
        Self.level(becomes: .critical)
        // Between the two marks a warning lasts.
        root.group(version: version, used: 820_000)
        Self.level(becomes: .warning)
        root.group(version: version, used: 980_000, idle: 500_000)
        Self.level(becomes: .normal)
      }
    }

    @Test("A level lasts while the group's files cannot be opened", arguments: [1, 2])
    func descriptors(version: Int) async {
      await #expect(processExitsWith: .success) { [version] in
        let root = FakeRoot()
        MemoryPressure.setRoot(root.path)
        root.group(version: version, used: 960_000)
        let cache = PressureTests.filled()
        Self.level(becomes: .critical)
        waitUntil("the cache answers") { cache.count == 10 }
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        var none = rlimit(rlim_cur: 0, rlim_max: limit.rlim_max)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none)
        for _ in 0..<50 {
          // The files are read in between.
          usleep(100_000)
          #expect(MemoryPressure.current == .critical)
        }
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        root.group(version: version, used: 100_000)
        Self.level(becomes: .normal)
      }
    }

    @Test("A group of version 1 that is gone is named as such, and its level ends")
    func vanishing() async {
      await #expect(processExitsWith: .success) {
        let root = FakeRoot()
        MemoryPressure.setRoot(root.path)
        root.group(version: 1, used: 960_000)
        let cache = PressureTests.filled()
        Self.level(becomes: .critical)
        #expect(MemoryPressure.sources.contains { $0.isWatched })
        root.set("sys/fs/cgroup/memory/a/memory.usage_in_bytes", nil)
        Self.level(becomes: .normal)
        #expect(!MemoryPressure.sources.contains { $0.isWatched })
        withExtendedLifetime(cache) {}
      }
    }

    @Test("Where version 1 has the memory, but no limit, the group of version 2 tells of stalls")
    func bothVersions() async {
      await #expect(processExitsWith: .success) {
        let root = FakeRoot()
        MemoryPressure.setRoot(root.path)
        root.memory(available: 100)
        root.set("proc/self/cgroup", "4:memory:/a\n1:name=systemd:/a\n0::/a\n")
        root.set("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712\n")
        root.set("sys/fs/cgroup/memory/a/memory.usage_in_bytes", "1000\n")
        root.stalls("sys/fs/cgroup/unified/a/memory.pressure", some: "50.00", full: "40.00")
        let cache = PressureTests.filled()
        Self.level(becomes: .critical)
        waitUntil("the cache answers") { cache.count == 10 }
      }
    }

    @Test("The list of groups may be longer than a page")
    func longList() async {
      await #expect(processExitsWith: .success) {
        let root = FakeRoot()
        MemoryPressure.setRoot(root.path)
        root.group(version: 1, used: 960_000)
        let others = (2...20).map { "\($0):other\($0):/" + String(repeating: "x", count: 500) }
        root.set("proc/self/cgroup", (others + ["1:memory:/a/b"]).joined(separator: "\n"))
        let cache = PressureTests.filled()
        Self.level(becomes: .critical)
        waitUntil("the cache answers") { cache.count == 10 }
      }
    }
  }
#endif
