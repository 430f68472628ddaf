// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// What caches give up while the app is in the background, which is one of the process.
@Suite("Memory pressure: the background")
struct BackgroundPressureTests {
  @Test("A level and the background do not compound", arguments: [true, false])
  func levelAndBackground(levelFirst: Bool) async {
    await #expect(processExitsWith: .success) { [levelFirst = levelFirst as Bool] in
      let cache = Cache<Int, Int>(countLimit: 100)
      cache.pressure = PressureResponse(critical: 0.2, background: 0.5)
      for key in 0..<100 { cache[key] = key }
      if levelFirst {
        MemoryPressure.report(.critical)
        MemoryPressure.enterBackground()
      } else {
        MemoryPressure.enterBackground()
        #expect(cache.count == 50)
        MemoryPressure.report(.critical)
      }
      #expect(cache.count == 20 && cache.effectiveCountLimit == 20)
      MemoryPressure.enterForeground()
      #expect(cache.count == 20)
      cache.checkInvariants()
    }
  }

  @Test("Once the level is normal, the background takes its part of what is left")
  func backgroundAfterLevel() async {
    await #expect(processExitsWith: .success) {
      MemoryPressure.setPause(nanoseconds: 3_600_000_000_000)
      let cache = PressureTests.filled(pressure: PressureResponse(critical: 0.2, background: 0.5))
      MemoryPressure.report(.critical)
      #expect(cache.count == 20)
      MemoryPressure.report(.normal)
      MemoryPressure.enterBackground()
      #expect(cache.count == 10)
    }
  }

  @Test("The background keeps everything unless asked; the foreground restores the limits")
  func background() async {
    await #expect(processExitsWith: .success) {
      let plain = PressureTests.filled()
      let shy = PressureTests.filled(pressure: PressureResponse(background: 0.2))
      MemoryPressure.enterBackground()
      #expect(plain.count == 100)
      #expect(shy.count == 20)
      #expect(shy.effectiveCountLimit == 20)
      MemoryPressure.enterBackground()
      #expect(shy.count == 20)
      MemoryPressure.enterForeground()
      #expect(shy.count == 20)
      #expect(shy.effectiveCountLimit == 100)
      #expect(shy.statistics.evictionsByPressure == 80)
      #expect(plain.statistics.evictionsByPressure == 0)
    }
  }

  @Test("A response set in the background, or a cache created there, answers at once")
  func setInTheBackground() async {
    await #expect(processExitsWith: .success) {
      let cache = PressureTests.filled()
      let costly = Cache<Int, Int>(totalCostLimit: 100)
      for key in 0..<100 { costly[key] = key }
      MemoryPressure.enterBackground()
      let late = PressureTests.filled(pressure: PressureResponse(background: 0.1))
      #expect(late.count == 10 && late.effectiveCountLimit == 10)
      for cache in [cache, costly] {
        cache.pressure = PressureResponse(background: 0.2)
        #expect(cache.count == 20)
        // Setting it again removes nothing, and a larger part lifts the limit at once.
        cache.pressure = PressureResponse(background: 0.2)
        #expect(cache.count == 20)
        cache.pressure = PressureResponse(background: 0.5)
        for key in 200..<300 { cache[key] = key }
        #expect(cache.count == 50)
        cache.pressure = PressureResponse(background: 0.1)
        #expect(cache.count == 10)
        cache.checkInvariants()
      }
      #expect(costly.effectiveTotalCostLimit == 10)
      for response in [PressureResponse(background: 1), .default, .ignore] {
        late.pressure = PressureResponse(background: 0.1)
        #expect(late.effectiveCountLimit == 10)
        late.pressure = response
        #expect(late.effectiveCountLimit == 100)
      }
      for key in 0..<100 { late[key] = key }
      late.pressure = PressureResponse(
        onWarning: .keepAll, onCritical: .keepAll, inBackground: .removeAll)
      #expect(late.isEmpty && late.effectiveCountLimit == 100)
      MemoryPressure.enterForeground()
      #expect(cache.effectiveCountLimit == 100 && cache.count == 10)
      late.pressure = PressureResponse(background: 0.1)
      #expect(late.effectiveCountLimit == 100)
    }
  }
}
