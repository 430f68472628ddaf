// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

#if canImport(Glibc)
  import Glibc

  /// How often the thread that listens to the system runs while nothing happens.
  @Suite("Wake-ups of the watcher")
  struct PressureWakeTests {
    /// The threads of this process, and how often each has gone to sleep by itself.
    private static func sleeps() -> [String: Int] {
      var sleeps: [String: Int] = [:]
      guard let folder = opendir("/proc/self/task") else { return sleeps }
      defer { closedir(folder) }
      while let item = readdir(folder) {
        let name = withUnsafeBytes(of: item.pointee.d_name) {
          String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        guard name.first != ".", let file = fopen("/proc/self/task/\(name)/status", "r") else {
          continue
        }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 4096)
        while fgets(&line, Int32(line.count), file) != nil {
          let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
          guard text.hasPrefix("voluntary_ctxt_switches") else { continue }
          sleeps[name] = Int(text.filter(\.isNumber))
        }
      }
      return sleeps
    }

    /// How often the threads that are not among `others` wake up within so many milliseconds.
    private static func wakes(of others: Set<String>, within milliseconds: UInt32) -> Int {
      let before = sleeps()
      usleep(milliseconds * 1_000)
      return sleeps().reduce(0) { sum, thread in
        others.contains(thread.key) ? sum : sum + thread.value - (before[thread.key] ?? 0)
      }
    }

    @Test("Nothing wakes the watcher where nothing must be read")
    func idle() async {
      await #expect(processExitsWith: .success) {
        let others = Set(Self.sleeps().keys)
        MemoryPressure.setRoot(FakeRoot().path)
        let cache = PressureTests.filled()
        usleep(500_000)
        #expect(Self.wakes(of: others, within: 3_000) == 0)
        #expect(Self.sleeps().count > others.count, "there is a watcher")
        #expect(cache.count == 100)
      }
    }

    @Test("Averages are read every two seconds, and only while a cache wants to know")
    func averages() async {
      await #expect(processExitsWith: .success) {
        let others = Set(Self.sleeps().keys)
        let root = FakeRoot()
        MemoryPressure.setRoot(root.path)
        root.stalls("proc/pressure/memory", some: "0.00")
        let cache = PressureTests.filled()
        usleep(500_000)
        let start = Clock.now
        let wakes = Self.wakes(of: others, within: 4_500)
        #expect(wakes > 0)
        #expect(wakes <= Int((Clock.now - start) / 2_000_000_000) + 1)
        cache.pressure = .ignore
        // It may be asleep until the next look.
        usleep(2_500_000)
        #expect(Self.wakes(of: others, within: 2_500) == 0)
      }
    }
  }
#endif
