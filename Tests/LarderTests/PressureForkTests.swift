// SPDX-License-Identifier: Apache-2.0
import CLarder
import Foundation
import Larder
import LarderTestSupport
import Synchronization
import Testing

// Not under ThreadSanitizer: it knows no threads that are started after a fork.
@Suite("Pressure and fork()")
struct PressureForkTests {
  @Test("A child of fork() answers to pressure, and its limits come back")
  func fork() async {
    await #expect(processExitsWith: .success) {
      MemoryPressure.setPause(nanoseconds: 1_000_000)
      let cache = Cache<Int, Int>(countLimit: 100)
      for key in 0..<100 { cache[key] = key }
      MemoryPressure.report(.warning)
      MemoryPressure.report(.normal)
      waitUntil("the limit is back") { cache.effectiveCountLimit == 100 }
      for key in 0..<100 { cache[key] = key }
      expectChildSuccess {
        MemoryPressure.report(.warning)
        precondition(cache.count == 50 && cache.effectiveCountLimit == 50)
        MemoryPressure.report(.normal)
        waitUntil("the limit is back in the child") { cache.effectiveCountLimit == 100 }
      }
      #expect(cache.count == 100)
    }
  }

  @Test("A child has forgotten what the system told its parent, and its limits come back")
  func sensed() async {
    await #expect(processExitsWith: .success) {
      MemoryPressure.setPause(nanoseconds: 1_000_000)
      let cache = Cache<Int, Int>(countLimit: 100)
      for key in 0..<100 { cache[key] = key }
      // What the system itself says may come in between.
      waitUntil("the cache has answered") {
        lrd_pressure_sense(1)
        return cache.effectiveCountLimit == 50
      }
      expectChildSuccess {
        precondition(MemoryPressure.current == .normal)
        MemoryPressure.report(.normal)
        waitUntil("the limit is back in the child") { cache.effectiveCountLimit == 100 }
      }
    }
  }

  @Test("In a child that is born while caches answer, their limits come back")
  func midst() async {
    await #expect(processExitsWith: .success) {
      MemoryPressure.setPause(nanoseconds: 1_000_000)
      MemoryPressure.setRoot(FakeRoot().path)
      let calls = Protected(0)
      let caches = (0..<3).map { _ in Cache<Int, Int>(countLimit: 10) }
      for cache in caches {
        cache.pressure = PressureResponse { level in
          guard level != .normal else { return .keep(1) }
          // Two have answered, and this one is just asked.
          if calls.withLock({
            $0 += 1
            return $0
          }) == 3 {
            expectChildSuccess {
              precondition(caches.count { $0.effectiveCountLimit == 5 } == 2)
              MemoryPressure.report(.normal)
              waitUntil("the limits are back in the child") {
                caches.allSatisfy { $0.effectiveCountLimit == 10 }
              }
            }
          }
          return .keep(0.5)
        }
      }
      MemoryPressure.report(.warning)
      #expect(caches.allSatisfy { $0.effectiveCountLimit == 5 })
      for cache in caches { cache.pressure = .default }
    }
  }

  @Test("A closure may fork")
  func closureForks() async {
    await #expect(processExitsWith: .success) {
      let tracker = LifetimeTracker()
      var caches: [Cache<Int, Tracked>] = []
      let isFirst = Protected(true)
      for _ in 0..<3 {
        let cache = Cache<Int, Tracked>(countLimit: 10)
        for key in 0..<10 { cache[key] = tracker.make(key) }
        cache.pressure = PressureResponse { _ in
          let forks = isFirst.withLock { isFirst in
            defer { isFirst = false }
            return isFirst
          }
          // The child ends in the middle of the walk that its parent's thread has begun.
          if forks { expectChildSuccess { MemoryPressure.report(.critical) } }
          return .keep(0.5)
        }
        caches.append(cache)
      }
      MemoryPressure.report(.warning)
      #expect(caches.allSatisfy { $0.count == 5 })
      caches = []
      #expect(tracker.live == 0)
    }
  }

  /// The number of threads of this process.
  private static func threads() -> Int {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? 0
  }

  @Test("Where the watcher has forked, it goes on in the child, and no second one starts")
  func watcherForks() async {
    await #expect(processExitsWith: .success) {
      MemoryPressure.setPause(nanoseconds: 1_000_000)
      let root = FakeRoot()
      MemoryPressure.setRoot(root.path)
      root.memory(available: 100)
      root.stalls("proc/pressure/memory", some: "0.00")
      let tracker = LifetimeTracker()
      let timed = Cache<Int, Int>(expiration: .afterWrite(.milliseconds(1)))
      timed[0] = 0
      waitUntil("the background thread runs") { timed.isEmpty }
      let cache = Cache<Int, Tracked>(countLimit: 100)
      let forked = Atomic(false)
      let ended = Atomic(false)
      for key in 0..<100 {
        cache[key] = tracker.make(key) {
          guard !forked.exchange(true, ordering: .relaxed) else { return }
          expectReturningChildSuccess {
            timed[0] = 0
            waitUntil("the background thread runs in the child") { timed.isEmpty }
            for _ in 0..<3 {
              MemoryPressure.report(.warning)
              precondition(cache.effectiveCountLimit <= 50)
              MemoryPressure.report(.normal)
              waitUntil("the limit is back in the child") { cache.effectiveCountLimit == 100 }
            }
            waitUntil("this thread, the watcher and the background thread are left") {
              Self.threads() == 3
            }
          }
          ended.store(true, ordering: .releasing)
        }
      }
      root.stalls("proc/pressure/memory", some: "50.00", full: "50.00")
      waitUntil("the child has ended") { ended.load(ordering: .acquiring) }
    }
  }
}
