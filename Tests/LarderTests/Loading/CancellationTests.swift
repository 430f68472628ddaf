// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Callers that leave.
@Suite("Callers that leave a load", .timeLimit(.minutes(20)))
struct CancellationTests {
  @Test("A cancelled caller leaves at once, and the load goes on for the other")
  func oneLeaves() async throws {
    let cache = Cache<Int, Int>()
    let (gate, wasCancelled) = (Switch(), Switch())
    let load = { @Sendable (_: Int) async throws -> Int in
      while !gate.isOn { await Task.yield() }
      if Task.isCancelled { wasCancelled.turnOn() }
      return 1
    }
    let first = Task { try await cache.value(forKey: 1, load: load) }
    let second = Task { try await cache.value(forKey: 1, load: load) }
    while cache.loadStatistics.shared == 0 { await Task.yield() }
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    gate.turnOn()
    #expect(try await second.value == 1)
    #expect(!wasCancelled.isOn && cache.value(forKey: 1) == 1)
    #expect(cache.loadStatistics.left == 1 && cache.loadStatistics.cancellations == 0)
  }

  @Test(
    "The load is cancelled with its last caller, unless it is to go on", arguments: [false, true])
  func allLeave(goesOn: Bool) async throws {
    let (gate, started) = (Switch(), Switch())
    let seen = Protected<Bool?>(nil)
    let cache = LoadingCache<Int, Int>(
      loading: LoadingOptions(continuesWithoutCallers: goesOn)
    ) { _ in
      started.turnOn()
      while !gate.isOn { await Task.yield() }
      seen.withLock { $0 = Task.isCancelled }
      return 1
    }
    let callers = (0..<5).map { _ in Task { try await cache[1] } }
    while cache.statistics.shared < 4 || !started.isOn { await Task.yield() }
    for caller in callers { caller.cancel() }
    for caller in callers {
      await #expect(throws: CancellationError.self) { try await caller.value }
    }
    // Who asks now must not join a load that was cancelled.
    if !goesOn { #expect(cache.cache.flightCount == 0) }
    gate.turnOn()
    while seen.withLock({ $0 }) == nil { await Task.yield() }
    #expect(seen.withLock { $0 } == !goesOn)
    while cache.statistics.loads == 0 || cache.cache.flightCount > 0 { await Task.yield() }
    #expect(cache.statistics.cancellations == (goesOn ? 0 : 1))
    #expect(cache.cache.value(forKey: 1) == (goesOn ? 1 : nil))
    cache.cache.checkInvariants()
  }

  @Test("A load does not hold the callers that have left, in whatever order", arguments: 0..<3)
  func forgotten(order: Int) async throws {
    let started = Switch()
    let gate = Switch()
    let cache = LoadingCache<Int, Int>(
      loading: LoadingOptions(continuesWithoutCallers: true)
    ) { _ in
      started.turnOn()
      while !gate.isOn { await Task.yield() }
      return 1
    }
    // They come one after the other.
    var callers: [Task<Int, any Error>] = []
    for number in 0..<6 {
      callers.append(Task { try await cache[1] })
      while cache.cache.waiterCount <= number { await Task.yield() }
    }
    #expect(cache.statistics.shared == 5)
    let leavers = [[0, 1, 2], [5, 4, 3], [2, 0, 5, 1, 3, 4]][order]
    for (gone, number) in leavers.enumerated() {
      callers[number].cancel()
      await #expect(throws: CancellationError.self) { try await callers[number].value }
      #expect(cache.cache.waiterCount == 5 - gone)
    }
    // One that comes now is no less a caller than those before.
    let late = Task { try await cache[1] }
    while cache.statistics.shared < 6 { await Task.yield() }
    #expect(cache.cache.waiterCount == 7 - leavers.count)
    while !started.isOn { await Task.yield() }
    gate.turnOn()
    for number in 0..<6 where !leavers.contains(number) {
      #expect(try await callers[number].value == 1)
    }
    #expect(try await late.value == 1)
    #expect(cache.statistics.loads == 1 && cache.statistics.left == leavers.count)
    while cache.cache.flightCount > 0 { await Task.yield() }
    #expect(cache.cache.waiterCount == 0 && cache.cache.countedFlights == 0)
  }

  @Test("A load whose callers have all left before its turn does not call the loader")
  func leftBeforeItsTurn() async throws {
    let (gate, started) = (Switch(), Switch())
    let loaded = Protected<[Int]>([])
    let cache = LoadingCache<Int, Int>(loading: LoadingOptions(loadLimit: 1)) { key in
      loaded.withLock { $0.append(key) }
      started.turnOn()
      while !gate.isOn { await Task.yield() }
      return key
    }
    let first = Task { try await cache[0] }
    while !started.isOn { await Task.yield() }
    let callers = (1...10).map { key in Task { try await cache[key] } }
    while cache.cache.flightCount < 11 { await Task.yield() }
    for caller in callers { caller.cancel() }
    for caller in callers {
      await #expect(throws: CancellationError.self) { try await caller.value }
    }
    // Who asks again gets a load that is not cancelled.
    let again = Task { try await cache[5] }
    while cache.cache.flightCount < 2 { await Task.yield() }
    gate.turnOn()
    #expect(try await first.value == 0)
    #expect(try await again.value == 5)
    #expect(loaded.withLock { $0 } == [0, 5])
    #expect(cache.statistics.cancellations == 10 && cache.statistics.failures == 0)
    cache.cache.checkInvariants()
  }

  @Test(
    "A caller that is cancelled before it asks gets a hit, and begins no load",
    arguments: [LoadingOptions(), .init(continuesWithoutCallers: true), .init(gathering: .init())])
  func cancelledBefore(loading: LoadingOptions) async {
    let loads = Counter()
    let gate = Switch()
    let loadAll = { @Sendable (keys: [Int]) async throws -> [Int: Int] in
      loads.next()
      while !gate.isOn { try await Task.sleep(for: .milliseconds(1)) }
      return Dictionary(uniqueKeysWithValues: keys.map { ($0, $0) })
    }
    let cache = LoadingCache<Int, Int>(loading: loading, loadAll: loadAll) { key in
      try await loadAll([key])[key]!
    }
    cache.cache[2] = 2
    let other = Task { try await cache[4] }
    while loads.value == 0 { await Task.yield() }
    let results = await Task {
      withUnsafeCurrentTask { $0?.cancel() }
      var results: [Result<Int, any Error>] = []
      for key in [1, 4, 2] { results.append(await Result { try await cache[key] }) }
      let several = await cache.values(forKeys: [1, 2, 3, 4])
      for key in [1, 3, 4, 2] { results.append(several[key]!) }
      return results
    }.value
    for index in [0, 1, 3, 4, 5] {
      #expect(throws: CancellationError.self) { try results[index].get() }
    }
    for index in [2, 6] { #expect((try? results[index].get()) == 2) }
    // It has not joined the load under way either.
    #expect(cache.statistics.shared == 0 && cache.statistics.left == 0)
    #expect(cache.cache.flightCount == 1 && loads.value == 1)
    gate.turnOn()
    let value = try? await other.value
    #expect(value == 4 && loads.value == 1)
  }

  @Test("The cancelled task of a blocking load does not cancel those who wait for it")
  func blockingLoaderIsCancelled() async throws {
    let cache = Cache<Int, Int>()
    let (started, gate) = (Switch(), Switch())
    let loader = Task {
      try blocking(cache, 1) { _ in
        started.turnOn()
        waitUntil("the gate") { gate.isOn }
        try Task.checkCancellation()
        return 1
      }
    }
    while !started.isOn { await Task.yield() }
    async let other = run { try? blocking(cache, 1) { _ in 2 } }
    while cache.loadStatistics.shared == 0 { await Task.yield() }
    loader.cancel()
    gate.turnOn()
    await #expect(throws: CancellationError.self) { try await loader.value }
    #expect(await other == 2)
    #expect(cache.value(forKey: 1) == 2)
  }

  @Test("Callers that come and go at random leave nothing behind")
  func storm() async throws {
    let cache = Cache<Int, Int>()
    await withTaskGroup { group in
      for number in 0..<Stress.scaled(3_000) {
        group.addTask {
          let task = Task {
            try await cache.value(forKey: number % 3) { key in
              for _ in 0..<(number % 7) { await Task.yield() }
              if number % 5 == 0 { cache.removeValue(forKey: key) }
              try Task.checkCancellation()
              return key
            }
          }
          if number % 2 == 0 {
            await Task.yield()
            task.cancel()
          }
          let value = try? await task.value
          precondition(value == nil || value == number % 3)
          if number % 4 == 0 { cache.removeValue(forKey: number % 3) }
        }
      }
    }
    waitUntil("all loads") { cache.flightCount == 0 }
    // Also of those that have asked again.
    let numbers = cache.statistics
    #expect(numbers.hits + numbers.misses == Stress.scaled(3_000))
    cache.checkInvariants()
  }

  @Test("Who has to ask again counts as one lookup")
  func askedAgain() async {
    await #expect(processExitsWith: .success) {
      let cache = Cache<Int, Int>()
      let gate = Switch()
      // On the thread of a task.
      let load = { @Sendable in
        try cache.value(forKey: 1) { _ in
          waitUntil("others wait") { gate.isOn }
          throw CancellationError()
        }
      }
      let first = Task.detached {
        while !Task.isCancelled { await Task.yield() }
        return try load()
      }
      first.cancel()
      waitUntil("the first load is under way") { cache.countedFlights == 1 }
      let opener = RealThread {
        waitUntil("the others wait") { cache.loadStatistics.shared == 20 }
        gate.turnOn()
      }
      onThreads(20) { _ in _ = try? cache.value(forKey: 1) { $0 } }
      opener.join()
      _ = await first.result
      let numbers = cache.statistics
      precondition(numbers.hits == 0 && numbers.misses == 21)
      precondition(cache.value(forKey: 1) == 1)
    }
  }
}

extension Result where Failure == any Error {
  fileprivate init(_ body: () async throws -> Success) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }
}
