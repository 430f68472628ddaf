// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// What a load takes over from its callers.
@Suite("The context of a load", .timeLimit(.minutes(20)))
struct LoadContextTests {
  enum Trace { @TaskLocal static var number = 0 }

  @Test("A load has the task-local values of the caller that began it")
  func taskLocals() async throws {
    let cache = Cache<Int, Int>()
    let value = try await Trace.$number.withValue(42) {
      try await cache.value(forKey: 1) { _ in Trace.number }
    }
    #expect(value == 42)
  }

  /// How a load becomes urgent while it runs.
  enum Urgency: CaseIterable { case joined, joinedForMany, escalated }

  @Test("A load is as urgent as its most urgent caller", arguments: Urgency.allCases)
  func priority(_ urgency: Urgency) async throws {
    let cache = Cache<Int, Int>()
    let started = Switch()
    let load = { @Sendable (_: Int) async throws -> Int in
      started.turnOn()
      // The one that joins raises the load after it has joined.
      await Self.waitForPriority(.high)
      return Int(Task.currentPriority.rawValue)
    }
    let idle = Task.detached(priority: .background) {
      try await cache.value(forKey: 1, load: load)
    }
    while !started.isOn { try await Task.sleep(for: .milliseconds(1)) }
    var urgent: Task<Int, any Error>?
    switch urgency {
    case .joined:
      urgent = Task.detached(priority: .high) { try await cache.value(forKey: 1, load: load) }
    case .joinedForMany:
      urgent = Task.detached(priority: .high) {
        try await cache.values(forKeys: [1]) { _ in [:] }[1]!.get()
      }
    case .escalated: idle.escalatePriority(to: .high)
    }
    let priority = TaskPriority(rawValue: UInt8(try await idle.value))
    #expect(priority >= .high)
    _ = try await urgent?.value
  }

  @Test("The escalation of a caller of several keys reaches all of their loads")
  func severalPriorities() async throws {
    let started = Counter()
    let urgent = Counter()
    let cache = LoadingCache<Int, Int> { _ in
      started.next()
      await Self.waitForPriority(.high)
      let priority = Task.currentPriority
      urgent.next()
      // None ends before all are urgent: the caller waits for one after the other.
      while urgent.value < 5 { try await Task.sleep(for: .milliseconds(1)) }
      return Int(priority.rawValue)
    }
    let caller = Task.detached(priority: .background) {
      await cache.values(forKeys: Array(0..<5))
    }
    while started.value < 5 { try await Task.sleep(for: .milliseconds(1)) }
    caller.escalatePriority(to: .high)
    for (_, result) in await caller.value {
      #expect(TaskPriority(rawValue: UInt8(try result.get())) >= .high)
    }
  }

  @Test("Loads that are gathered are as urgent as the most urgent caller")
  func gatheredPriority() async throws {
    let cache = LoadingCache<Int, Int>(
      loading: .init(gathering: .init(most: 3, delay: .seconds(86_400))),
      loadAll: { keys in
        await Self.waitForPriority(.high)
        let priority = Int(Task.currentPriority.rawValue)
        return Dictionary(uniqueKeysWithValues: keys.map { ($0, priority) })
      },
      load: { _ in throw CancellationError() })
    // The last one loads for all.
    var callers: [Task<Int, any Error>] = []
    for (key, priority) in [TaskPriority.background, .high, .background].enumerated() {
      callers.append(Task.detached(priority: priority) { try await cache[key] })
      while cache.cache.flightCount <= key && key < 2 {
        try await Task.sleep(for: .milliseconds(1))
      }
    }
    for caller in callers {
      #expect(TaskPriority(rawValue: UInt8(try await caller.value)) >= .high)
    }
  }

  /// Waits until the task has this priority. A caller may take long to come where many tests run.
  private static func waitForPriority(_ priority: TaskPriority) async {
    let end = Clock.now + 600_000_000_000
    while Task.currentPriority < priority && Clock.now < end {
      try? await Task.sleep(for: .milliseconds(1))
    }
  }
}
