// SPDX-License-Identifier: Apache-2.0
import Foundation
import Larder
import LarderTestSupport
import Testing

/// What becomes of a loaded value that nobody wants.
@Suite("Values of abandoned loads", .timeLimit(.minutes(20)))
struct ReleasedLoadTests {
  /// A value whose end does something.
  private final class Ending: Sendable {
    let end: (@Sendable () -> Void)?
    init(_ end: (@Sendable () -> Void)? = nil) { self.end = end }
    deinit { end?() }
  }

  // In a process of its own, since the end keeps a thread of the concurrency pool waiting.
  @Test(
    "Its release may wait for a load that waits for its turn",
    .enabled(if: ProcessInfo.processInfo.activeProcessorCount > 1), arguments: [false, true])
  func turn(inBulk: Bool) async {
    await #expect(processExitsWith: .success) { [inBulk = inBulk as Bool] in
      let gate = Switch()
      let began = Switch()
      let ended = Switch()
      let plain = Protected<Cache<Int, Ending>?>(nil)
      let load = { @Sendable (key: Int) async -> Ending in
        if key != 1 { return Ending() }
        began.turnOn()
        while !gate.isOn { await Task.yield() }
        return Ending {
          _ = try? plain.withLock { $0 }!.value(forKey: 2) { _ in Ending() }
          ended.turnOn()
        }
      }
      let cache = LoadingCache<Int, Ending>(
        loading: LoadingOptions(loadLimit: 1), loadAll: { [1: await load($0[0])] }, load: load)
      plain.withLock { $0 = cache.cache }
      let first = Task {
        if inBulk { _ = await cache.values(forKeys: [1]) } else { _ = try await cache[1] }
      }
      while !began.isOn { await Task.yield() }
      let second = Task { try await cache[2] }
      while cache.cache.flightCount < 2 { await Task.yield() }
      // Nobody waits for the first load any more, and it is outdated: its value ends in its task.
      first.cancel()
      _ = await first.result
      cache.cache.removeValue(forKey: 1)
      gate.turnOn()
      _ = try await second.value
      while !ended.isOn { await Task.yield() }
    }
  }
}
