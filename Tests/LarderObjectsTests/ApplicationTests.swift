// SPDX-License-Identifier: Apache-2.0
import Foundation
import Larder
import LarderObjects
import Testing

/// What notifications of an app do. The level is one of the process, so each test has a process of
/// its own.
@Suite("Notifications of an app")
struct ApplicationTests {
  private static func post(_ name: String) {
    NotificationCenter.default.post(name: Notification.Name(name), object: nil)
  }

  private static func filled(_ pressure: PressureResponse) -> Cache<Int, Int> {
    let cache = Cache<Int, Int>(countLimit: 100, policy: .lru, options: .init(pressure: pressure))
    for key in 0..<100 { cache[key] = key }
    return cache
  }

  @Test("A memory warning is a warning for a while, once however often it is followed")
  func warning() async {
    await #expect(processExitsWith: .success) {
      let cache = Self.filled(.default)
      Self.post("UIApplicationDidReceiveMemoryWarningNotification")
      #expect(cache.count == 100, "nobody follows yet")
      for _ in 0..<3 { MemoryPressure.followApplication() }
      Self.post("UIApplicationDidReceiveMemoryWarningNotification")
      #expect(MemoryPressure.current == .warning)
      #expect(cache.count == 50)
      #expect(cache.statistics.evictionsByPressure == 50)
      MemoryPressure.pass(hours: 1)
      #expect(MemoryPressure.current == .normal)
      #expect(cache.count == 50)
    }
  }

  @Test("The background counts for caches that name a part to keep there")
  func background() async {
    await #expect(processExitsWith: .success) {
      MemoryPressure.followApplication()
      let (kept, cut) = (Self.filled(.default), Self.filled(.init(background: 0.25)))
      Self.post("UIApplicationDidEnterBackgroundNotification")
      #expect(kept.count == 100)
      #expect(cut.count == 25)
      #expect(cut.effectiveCountLimit == 25)
      Self.post("UIApplicationWillEnterForegroundNotification")
      #expect(cut.effectiveCountLimit == 100)
      #expect(cut.count == 25)
    }
  }
}
