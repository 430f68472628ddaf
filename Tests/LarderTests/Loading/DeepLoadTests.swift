// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Many loads, each of which waits for the next one.
@Suite("Deep loads", .timeLimit(.minutes(20)))
struct DeepLoadTests {
  /// Loads key `depth` by way of all below it; `bottom` loads key 0.
  private static func load(
    _ depth: Int, in cache: Cache<Int, Int>, _ bottom: @escaping @Sendable () async throws -> Int
  ) async throws -> Int {
    try await cache.value(forKey: depth) { key in
      if key == 0 { return try await bottom() }
      return try await load(key - 1, in: cache, bottom) + 1
    }
  }

  /// Runs `body` on a thread of its own. A task that waits for it takes no thread of the pool.
  private static func onOwnThread(
    stack: Int? = nil, _ body: @escaping @Sendable () -> Void
  ) async {
    await withCheckedContinuation { done in
      RealThread(stack: stack) {
        body()
        done.resume()
      }.detach()
    }
  }

  // Each in a process of its own, which an overflow ends.
  @Test("Their cancellation takes no more stack than that of one")
  func cancellation() async {
    await #expect(processExitsWith: .success) {
      let cache = Cache<Int, Int>()
      let started = Switch()
      let caller = Task {
        try await Self.load(2_000, in: cache) {
          started.turnOn()
          while !Task.isCancelled { try? await Task.sleep(for: .milliseconds(1)) }
          throw CancellationError()
        }
      }
      while !started.isOn { await Task.yield() }
      await Self.onOwnThread(stack: 256 << 10) {
        caller.cancel()
      }
      do {
        _ = try await caller.value
        fatalError("it was cancelled")
      } catch { precondition(error is CancellationError) }
      waitUntil("all loads") { cache.flightCount == 0 && cache.countedFlights == 0 }
      precondition(cache.loadStatistics.cancellations == 2_001)
    }
  }

  @Test("Their escalation takes no more stack than that of one")
  func escalation() async {
    await #expect(processExitsWith: .success) {
      let cache = Cache<Int, Int>()
      let started = Switch()
      let caller = Task.detached(priority: .background) {
        try await Self.load(2_000, in: cache) {
          started.turnOn()
          while Task.currentPriority < .high { try await Task.sleep(for: .milliseconds(1)) }
          return 1
        }
      }
      while !started.isOn { try await Task.sleep(for: .milliseconds(1)) }
      await Self.onOwnThread(stack: 256 << 10) {
        caller.escalatePriority(to: .high)
      }
      let value = try await caller.value
      precondition(value == 2_001)
    }
  }

  @Test("A handler of a cancelled load may wait for a load that it cancels")
  func handlerWaits() async {
    await #expect(processExitsWith: .success) {
      let (outer, inner) = (Cache<Int, Int>(), Cache<Int, Int>())
      let (innerBegan, innerEnded) = (Switch(), Switch())
      let (outerBegan, handlerEnded) = (Switch(), Switch())
      let other = Task {
        try await inner.value(forKey: 1) { _ in
          innerBegan.turnOn()
          while !Task.isCancelled { try? await Task.sleep(for: .milliseconds(1)) }
          innerEnded.turnOn()
          throw CancellationError()
        }
      }
      while !innerBegan.isOn { await Task.yield() }
      let caller = Task {
        try await outer.value(forKey: 1) { _ in
          await withTaskCancellationHandler {
            await Self.onOwnThread {
              outerBegan.turnOn()
              waitUntil("the handler has ended") { handlerEnded.isOn }
            }
            return 1
          } onCancel: {
            other.cancel()
            waitUntil(deadline: 60, "the load that it cancels has ended") { innerEnded.isOn }
            handlerEnded.turnOn()
          }
        }
      }
      while !outerBegan.isOn { try? await Task.sleep(for: .milliseconds(1)) }
      RealThread { caller.cancel() }.detach()
      while !handlerEnded.isOn { try? await Task.sleep(for: .milliseconds(1)) }
      _ = await caller.result
    }
  }

  @Test("A handler of a cancelled load may wait for the loader that has asked for it")
  func handlerWaitsForAsking() async {
    await #expect(processExitsWith: .success) {
      let (outer, inner) = (Cache<Int, Int>(), Cache<Int, Int>())
      let (innerBegan, outerEnded, handlerEnded) = (Switch(), Switch(), Switch())
      let caller = Task {
        try await outer.value(forKey: 1) { _ in
          defer { outerEnded.turnOn() }
          return try await inner.value(forKey: 1) { _ in
            await withTaskCancellationHandler {
              // The loader that has asked needs a thread of the pool.
              await Self.onOwnThread {
                innerBegan.turnOn()
                waitUntil("the handler has ended") { handlerEnded.isOn }
              }
              return 1
            } onCancel: {
              waitUntil(deadline: 60, "the loader that has asked ends") { outerEnded.isOn }
              handlerEnded.turnOn()
            }
          }
        }
      }
      while !innerBegan.isOn { await Task.yield() }
      RealThread { caller.cancel() }.detach()
      while !handlerEnded.isOn { try? await Task.sleep(for: .milliseconds(1)) }
      _ = await caller.result
      waitUntil("all loads") { outer.flightCount == 0 && inner.flightCount == 0 }
    }
  }

  @Test(
    "A handler may wait for a load that its task has asked for by another",
    arguments: [false, true])
  func handlerWaitsForTask(isDetached: Bool) async {
    await #expect(processExitsWith: .success) { [isDetached = isDetached as Bool] in
      let (outer, inner) = (Cache<Int, Int>(), Cache<Int, Int>())
      let (innerBegan, innerCancelled) = (Switch(), Switch())
      let caller = Task {
        try await outer.value(forKey: 1) { _ in
          let body = { @Sendable in
            try await inner.value(forKey: 1) { _ in
              innerBegan.turnOn()
              return await withTaskCancellationHandler {
                await Self.onOwnThread {
                  waitUntil("the load is cancelled") { innerCancelled.isOn }
                }
                return 1
              } onCancel: {
                innerCancelled.turnOn()
              }
            }
          }
          let task = isDetached ? Task.detached(operation: body) : Task(operation: body)
          return await withTaskCancellationHandler {
            (try? await task.value) ?? 0
          } onCancel: {
            task.cancel()
            waitUntil(deadline: 60, "the load is cancelled") { innerCancelled.isOn }
          }
        }
      }
      while !innerBegan.isOn { await Task.yield() }
      await Self.onOwnThread {
        caller.cancel()
      }
      _ = await caller.result
    }
  }

  @Test("The cancellation of loads in detached tasks takes no more stack either")
  func detachedTasks() async {
    await #expect(processExitsWith: .success) {
      let cache = Cache<Int, Int>()
      let started = Switch()
      let caller = Task { try await Self.loadDetached(2_000, in: cache, started) }
      while !started.isOn { try? await Task.sleep(for: .milliseconds(1)) }
      await Self.onOwnThread(stack: 512 << 10) {
        caller.cancel()
      }
      _ = await caller.result
      waitUntil("all loads") { cache.flightCount == 0 && cache.countedFlights == 0 }
    }
  }

  /// Loads each key by a detached task, which is cancelled by hand.
  @Sendable private static func loadDetached(
    _ depth: Int, in cache: Cache<Int, Int>, _ started: Switch
  ) async throws -> Int {
    try await cache.value(forKey: depth) { key in
      if key == 0 {
        started.turnOn()
        try await Task.sleep(for: .seconds(1_000))
      }
      let task = Task.detached { try await loadDetached(key - 1, in: cache, started) }
      return try await withTaskCancellationHandler {
        try await task.value
      } onCancel: {
        task.cancel()
      }
    }
  }
}
