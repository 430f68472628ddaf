// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

#if canImport(Glibc)
  import Glibc

  // Not under sanitizers: they keep freed memory, and shadows of it.

  /// Memory that a cache gives up goes back to the system: the resident memory of the process
  /// falls. Values are large enough to have pages of their own. Small ones share pages with others.
  @Suite("Memory goes back")
  struct GivingBackTests {
    /// The bytes of anonymous memory of this process that are resident.
    private static func resident() -> Int {
      guard let file = fopen("/proc/self/status", "r") else { return 0 }
      defer { fclose(file) }
      var line = [CChar](repeating: 0, count: 256)
      while fgets(&line, Int32(line.count), file) != nil {
        let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
        guard text.hasPrefix("RssAnon:") else { continue }
        return (Int(text.filter(\.isNumber)) ?? 0) << 10
      }
      return 0
    }

    /// Fills a cache with values of `bytes`, 200 MB in all. Returns the bytes of an entry.
    private static func fill(_ cache: Cache<Int, [UInt8]>, _ bytes: Int) -> Int {
      let before = Self.resident()
      let count = (200 << 20) / bytes
      for key in 0..<count { cache[key] = [UInt8](repeating: 1, count: bytes - 32) }
      return (resident() - before) / count
    }

    @Test(
      "After critical, resident memory is near what the entries left need",
      .enabled(if: GivingBackTests.resident() > 0), arguments: [20_000, 100_000])
    func pressure(bytes: Int) async {
      await #expect(processExitsWith: .success) { [bytes] in
        let cache = Cache<Int, [UInt8]>()
        let before = Self.resident()
        let each = Self.fill(cache, bytes)
        MemoryPressure.report(.critical)
        let needed = Double(cache.count * each)
        var left = 0.0
        // Within two seconds on a machine that is not overloaded.
        let end = Clock.now + 120_000_000_000
        repeat {
          usleep(50_000)
          left = Double(Self.resident() - before)
        } while left > 1.15 * needed + 1e6 && Clock.now < end
        #expect(left <= 1.15 * needed + 1e6, "\(Int(left) >> 10) KB for \(Int(needed) >> 10) KB")
      }
    }

    @Test(
      "reclaim() returns what was removed to the system",
      .enabled(if: GivingBackTests.resident() > 0))
    func reclaim() async {
      await #expect(processExitsWith: .success) {
        let cache = Cache<Int, [UInt8]>()
        let before = Self.resident()
        _ = Self.fill(cache, 20_000)
        cache.removeAll()
        cache.reclaim()
        #expect(Self.resident() - before < 10 << 20)
      }
    }
  }
#endif
