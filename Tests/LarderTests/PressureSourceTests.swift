// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

#if canImport(Glibc)
  import Glibc

  /// What the system says, by files of a fake root. They are read every two seconds.
  @Suite("Sources of memory pressure")
  struct PressureSourceTests {
    private static func level(becomes level: MemoryPressure.Level) {
      waitUntil("the level becomes \(level)") { MemoryPressure.current == level }
    }

    @Test("Averages of stalls count while the system is short")
    func averages() async {
      await #expect(processExitsWith: .success) {
        let root = FakeRoot()
        MemoryPressure.setRoot(root.path)
        root.memory(available: 500)
        root.stalls("proc/pressure/memory", some: "50.00", full: "50.00")
        let cache = PressureTests.filled()
        #expect(MemoryPressure.sources.count == 2)
        #expect(MemoryPressure.sources.allSatisfy { $0.isWatched })
        usleep(300_000)
        #expect(MemoryPressure.current == .normal, "there is enough memory")
        // In this order: both may be read in between.
        root.stalls("proc/pressure/memory", some: "50.00")
        root.memory(available: 100)
        Self.level(becomes: .warning)
        waitUntil("the cache answers") { cache.count == 50 }
        root.stalls("proc/pressure/memory", some: "50.00", full: "20.00")
        Self.level(becomes: .critical)
        waitUntil("the cache answers") { cache.count == 10 }
        root.stalls("proc/pressure/memory", some: "0.10")
        Self.level(becomes: .normal)
      }
    }

    @Test("A level ends also when no cache heeds it any more", arguments: [false, true])
    func deserted(isIgnored: Bool) async {
      await #expect(processExitsWith: .success) { [isIgnored] in
        let root = FakeRoot()
        MemoryPressure.setRoot(root.path)
        root.memory(available: 100)
        root.stalls("proc/pressure/memory", some: "50.00", full: "50.00")
        var cache: Cache<Int, Int>? = PressureTests.filled()
        Self.level(becomes: .critical)
        if isIgnored { cache!.pressure = .ignore } else { cache = nil }
        // What was due for the cache is over then.
        usleep(5_000_000)
        #expect(MemoryPressure.current == .critical)
        root.stalls("proc/pressure/memory", some: "0.00")
        Self.level(becomes: .normal)
        withExtendedLifetime(cache) {}
      }
    }

    @Test("A program that has called start() hears levels without a cache")
    func alone() async {
      await #expect(processExitsWith: .success) {
        let root = FakeRoot()
        MemoryPressure.setRoot(root.path)
        root.memory(available: 100)
        root.stalls("proc/pressure/memory", some: "0.00")
        MemoryPressure.start()
        usleep(300_000)
        root.stalls("proc/pressure/memory", some: "50.00")
        Self.level(becomes: .warning)
        root.stalls("proc/pressure/memory", some: "0.00")
        Self.level(becomes: .normal)
      }
    }

    @Test("A process without descriptors for a while loses no source, and does not spin")
    func descriptors() async {
      await #expect(processExitsWith: .success) {
        let root = FakeRoot()
        MemoryPressure.setRoot(root.path)
        root.memory(available: 100)
        root.stalls("proc/pressure/memory", some: "0.00")
        let cache = PressureTests.filled()
        usleep(300_000)
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        var none = rlimit(rlim_cur: 0, rlim_max: limit.rlim_max)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none)
        var (before, after) = (timespec(), timespec())
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before)
        // The averages are read in between.
        usleep(5_000_000)
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        // Where poll() fails at once, a thread that calls it again and again uses a processor.
        #expect(after.tv_sec - before.tv_sec < 2)
        #expect(MemoryPressure.sources.allSatisfy { $0.isWatched })
        root.stalls("proc/pressure/memory", some: "50.00")
        Self.level(becomes: .warning)
        waitUntil("the cache answers") { cache.count == 50 }
      }
    }

    @Test("stop() ends the system's level; caches start nothing after it, start() does")
    func stopAndStart() async {
      await #expect(processExitsWith: .success) {
        let root = FakeRoot()
        MemoryPressure.setRoot(root.path)
        #expect(MemoryPressure.sources.isEmpty)
        root.stalls("proc/pressure/memory", some: "0.00")
        root.group(used: 990_000)
        let cache = PressureTests.filled()
        Self.level(becomes: .critical)
        waitUntil("the cache answers") { cache.count == 10 }
        MemoryPressure.stop()
        #expect(MemoryPressure.sources.isEmpty)
        Self.level(becomes: .normal)
        let other = PressureTests.filled()
        usleep(300_000)
        #expect(MemoryPressure.sources.isEmpty)
        #expect(MemoryPressure.current == .normal)
        #expect(other.count == 100)
        MemoryPressure.report(.warning)
        #expect(other.count == 50)
        MemoryPressure.report(.normal)
        MemoryPressure.start()
        Self.level(becomes: .critical)
        #expect(!MemoryPressure.sources.isEmpty)
      }
    }

    @Test("start() right after stop() hears what is the case, also when no cache is left")
    func startAtOnce() async {
      await #expect(processExitsWith: .success) {
        let root = FakeRoot()
        MemoryPressure.setRoot(root.path)
        root.stalls("proc/pressure/memory", some: "0.00")
        root.group(used: 990_000)
        MemoryPressure.start()
        for _ in 0..<100 {
          Self.level(becomes: .critical)
          MemoryPressure.stop()
          MemoryPressure.start()
        }
        Self.level(becomes: .critical)
      }
    }

    @Test("start() tries again what could not be opened, or was lost")
    func startAgain() async {
      await #expect(processExitsWith: .success) {
        func watched(_ part: String) -> Bool {
          let sources = MemoryPressure.sources.filter { $0.name.contains(part) }
          return !sources.isEmpty && sources.allSatisfy { $0.isWatched }
        }
        let root = FakeRoot()
        MemoryPressure.setRoot(root.path)
        let cache = PressureTests.filled()
        #expect(!MemoryPressure.sources.contains { $0.isWatched })
        root.memory(available: 100)
        root.stalls("proc/pressure/memory", some: "50.00")
        MemoryPressure.start()
        #expect(watched("proc/pressure"))
        #expect(!watched("cgroup"))
        Self.level(becomes: .warning)
        waitUntil("the cache answers") { cache.count == 50 }
        root.set("proc/pressure/memory", nil)
        waitUntil("the loss is seen") { !watched("proc/pressure") }
        Self.level(becomes: .normal)
        root.stalls("proc/pressure/memory", some: "0.00")
        root.group(used: 990_000)
        root.stalls("sys/fs/cgroup/a/memory.pressure", some: "0.00")
        MemoryPressure.start()
        #expect(watched("proc/pressure") && watched("cgroup/a/memory.pressure"))
        Self.level(becomes: .critical)
        // The process moves to another group.
        for file in ["memory.max", "memory.high", "memory.current", "memory.pressure"] {
          root.set("sys/fs/cgroup/a/" + file, nil)
        }
        waitUntil("the loss is seen") { !watched("cgroup/a/memory.pressure") }
        root.set("proc/self/cgroup", "0::/c\n")
        root.set("sys/fs/cgroup/c/memory.max", "1000000\n")
        root.set("sys/fs/cgroup/c/memory.current", "500000\n")
        root.stalls("sys/fs/cgroup/c/memory.pressure", some: "0.00")
        MemoryPressure.start()
        #expect(watched("cgroup/c/memory.pressure") && !watched("cgroup/a"))
        Self.level(becomes: .normal)
      }
    }

    @Test("A cache that ignores pressure starts nothing")
    func ignoringStartsNothing() async {
      await #expect(processExitsWith: .success) {
        let cache = PressureTests.filled(pressure: .ignore)
        #expect(MemoryPressure.sources.isEmpty)
        cache.pressure = .default
        #expect(!MemoryPressure.sources.isEmpty)
      }
    }

    @Test(
      "Files that are missing, empty or garbage tell nothing",
      arguments: [
        nil, "", "garbage", "some avg10=", "some avg10=999999999999999999999.9\n", "\u{0}",
      ])
    func garbage(text: String?) async {
      await #expect(processExitsWith: .success) { [text] in
        let root = FakeRoot()
        MemoryPressure.setRoot(root.path)
        root.group(used: 1)
        for file in [
          "proc/pressure/memory", "proc/meminfo", "sys/fs/cgroup/a/memory.max",
          "sys/fs/cgroup/a/memory.current", "sys/fs/cgroup/a/memory.stat", "proc/self/cgroup",
        ] {
          root.set(file, text)
          MemoryPressure.start()
          let cache = PressureTests.filled()
          usleep(20_000)
          #expect(MemoryPressure.current == .normal, "\(file)")
          #expect(cache.count == 100)
          MemoryPressure.stop()
        }
      }
    }

    @Test("A source that vanishes is named as gone, and others are heard")
    func vanishing() async {
      await #expect(processExitsWith: .success) {
        let root = FakeRoot()
        MemoryPressure.setRoot(root.path)
        root.stalls("proc/pressure/memory", some: "0.00")
        root.group(used: 1)
        let cache = PressureTests.filled()
        #expect(
          MemoryPressure.sources.contains { $0.name.contains("proc/pressure") && $0.isWatched })
        root.set("proc/pressure/memory", nil)
        waitUntil("the loss is seen") {
          !MemoryPressure.sources.contains { $0.name.contains("proc/pressure") && $0.isWatched }
        }
        #expect(cache.count == 100)
      }
    }

    @Test("Without file descriptors there are no sources, and reports work")
    func noDescriptors() async {
      await #expect(processExitsWith: .success) {
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = 3
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        MemoryPressure.setPause(nanoseconds: 1_000_000)
        let cache = PressureTests.filled()
        #expect(!MemoryPressure.sources.contains { $0.isWatched })
        MemoryPressure.report(.warning)
        #expect(cache.count == 50)
        MemoryPressure.report(.normal)
        waitUntil("the limit is back") { cache.effectiveCountLimit == 100 }
      }
    }
  }
#endif
