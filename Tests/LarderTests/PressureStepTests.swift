// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// What time does to limits that memory pressure has lowered.
@Suite("Steps after memory pressure")
struct PressureStepTests {
  @Test("A limit comes back to a lower level though that is confirmed all the time")
  func confirmed() async {
    await #expect(processExitsWith: .success) {
      MemoryPressure.setPause(nanoseconds: 50_000_000)
      let cache = PressureTests.filled()
      MemoryPressure.report(.critical)
      #expect(cache.effectiveCountLimit == 10)
      waitUntil(deadline: 60, "the limit is that of a warning") {
        MemoryPressure.report(.warning)
        return cache.effectiveCountLimit == 50
      }
    }
  }

  @Test("A limit comes back when the closure that is asked reports the end itself")
  func endedByTheClosure() async {
    await #expect(processExitsWith: .success) {
      MemoryPressure.setPause(nanoseconds: 1_000_000)
      let cache = PressureTests.filled()
      cache.pressure = PressureResponse { _ in
        MemoryPressure.report(.normal)
        return .keep(0.1)
      }
      MemoryPressure.report(.critical)
      #expect(MemoryPressure.current == .normal)
      #expect(cache.count == 10)
      waitUntil(deadline: 60, "the limit is back") { cache.effectiveCountLimit == 100 }
    }
  }

  @Test("Limits are lowered while pressure lasts, and come back step by step")
  func limits() async {
    await #expect(processExitsWith: .success) {
      MemoryPressure.setPause(nanoseconds: 3_600_000_000_000)
      let cache = PressureTests.filled(1_000, limit: 1_000)
      MemoryPressure.report(.warning)
      #expect(cache.countLimit == 1_000)
      #expect(cache.effectiveCountLimit == 500)
      for key in 2_000..<3_000 { cache[key] = key }
      #expect(cache.count == 500)
      // The owner's lower limit holds as well.
      cache.countLimit = 300
      #expect(cache.effectiveCountLimit == 300)
      #expect(cache.count == 300)
      cache.countLimit = 1_000
      #expect(cache.effectiveCountLimit == 500)
      MemoryPressure.report(.normal)
      #expect(cache.effectiveCountLimit == 500)
      let seen = (UInt64(1)...5).map { hour in
        MemoryPressure.pass(hours: 2 * hour)
        return cache.effectiveCountLimit
      }
      #expect(seen == [626, 752, 878, 1_000, 1_000])
      #expect(cache.count == 300)
    }
  }

  @Test("What begins after the limits are back begins anew")
  func newEpisode() async {
    await #expect(processExitsWith: .success) {
      MemoryPressure.setPause(nanoseconds: 3_600_000_000_000)
      let cache = PressureTests.filled()
      MemoryPressure.report(.warning)
      MemoryPressure.report(.normal)
      for hour in UInt64(1)...5 { MemoryPressure.pass(hours: 2 * hour) }
      #expect(cache.effectiveCountLimit == 100)
      MemoryPressure.report(.warning)
      #expect(cache.count == 25)
    }
  }

  @Test("A level that lasts does not begin anew", arguments: [0, 100])
  func lasting(limit: Int) async {
    await #expect(processExitsWith: .success) { [limit] in
      MemoryPressure.setPause(nanoseconds: 3_600_000_000_000)
      let cache = PressureTests.filled(limit: limit)
      for hour in UInt64(1)...5 {
        MemoryPressure.report(.warning)
        #expect(cache.count == 50)
        MemoryPressure.pass(hours: 2 * hour)
      }
    }
  }
}
