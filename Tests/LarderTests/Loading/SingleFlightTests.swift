// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Callers of one key share one load, threads and tasks alike.
@Suite("Single flight", .timeLimit(.minutes(20)))
struct SingleFlightTests {
  struct Broken: Error, Equatable { let number: Int }

  @Test("A miss loads and stores, a hit does neither")
  func loadsOnce() async throws {
    let cache = Cache<Int, Int>()
    let loads = Counter()
    for _ in 0..<3 {
      let value = try blocking(cache, 1) { key in
        loads.next()
        return key + 10
      }
      #expect(value == 11)
    }
    for _ in 0..<3 {
      let value = try await cache.value(forKey: 2) { key in
        loads.next()
        return key + 10
      }
      #expect(value == 12)
    }
    #expect(loads.value == 2)
    #expect(cache.value(forKey: 1) == 11 && cache.value(forKey: 2) == 12)
    #expect(cache.loadStatistics.loads == 2 && cache.flightCount == 0)
    cache.checkInvariants()
  }

  @Test("64 threads and 10,000 tasks ask for one missing key: one load", arguments: [1, 4])
  func stampede(shards: Int) async throws {
    let tasks = Stress.scaled(10_000)
    let cache = Cache<Int, Int>(shards: shards)
    let loads = Counter()
    let asked = Counter()
    // The first load of a thread holds until all others wait for it, or have come too late to.
    let wrong = Counter()
    let threads = Task.detached {
      await withCheckedContinuation { done in
        RealThread {
          onThreads(64) { _ in
            asked.next()
            let value = try? blocking(cache, 7) { _ in
              loads.next()
              waitUntil("callers") { asked.value == 64 + tasks }
              return 70
            }
            if value != 70 { wrong.next() }
          }
          done.resume()
        }.detach()
      }
    }
    // The thread must be the one that loads: a task that waits like this would hold up the others.
    while loads.value == 0 { await Task.yield() }
    await withTaskGroup { group in
      for _ in 0..<tasks {
        group.addTask {
          asked.next()
          let value = try? await cache.value(forKey: 7) { _ in
            loads.next()
            return 70
          }
          if value != 70 { wrong.next() }
        }
      }
    }
    await threads.value
    #expect(loads.value == 1)
    #expect(wrong.value == 0)
    #expect(cache.loadStatistics.shared >= 63)
    #expect(cache.flightCount == 0)
    cache.checkInvariants()
  }

  @Test("A thread waits for a task's load, and a task for a thread's", arguments: [false, true])
  func mixed(threadLoads: Bool) async throws {
    let cache = Cache<Int, Int>()
    let gate = Switch()
    let loads = Counter()
    let onThread = { @Sendable () -> Int? in
      try? blocking(cache, 1) { _ in
        loads.next()
        waitUntil("the gate") { gate.isOn }
        return 5
      }
    }
    let inTask = { @Sendable () async -> Int? in
      try? await cache.value(forKey: 1) { _ in
        loads.next()
        while !gate.isOn { await Task.yield() }
        return 5
      }
    }
    async let thread = threadLoads ? run(onThread) : inTask()
    while loads.value == 0 { await Task.yield() }
    async let other = threadLoads ? inTask() : run(onThread)
    while cache.loadStatistics.shared == 0 { await Task.yield() }
    gate.turnOn()
    let results = await [thread, other]
    #expect(results == [5, 5])
    #expect(loads.value == 1)
  }

  @Test("An error reaches every waiter, is not stored, and the next caller loads again")
  func errors() async throws {
    let cache = Cache<Int, Int>()
    let gate = Switch()
    let loads = Counter()
    let results = await withTaskGroup(of: Int?.self) { group in
      for _ in 0..<20 {
        group.addTask {
          do {
            return try await cache.value(forKey: 1) { _ in
              let number = loads.next()
              while !gate.isOn { await Task.yield() }
              throw Broken(number: number)
            }
          } catch { return (error as? Broken)?.number }
        }
      }
      while cache.loadStatistics.shared < 19 { await Task.yield() }
      gate.turnOn()
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(results == Array(repeating: 1, count: 20))
    #expect(cache.count == 0 && cache.flightCount == 0)
    #expect(throws: Broken(number: 9)) {
      try blocking(cache, 1) { (_) throws(Broken) in throw Broken(number: 9) }
    }
    #expect(cache.loadStatistics.failures == 2)
    #expect(try blocking(cache, 1) { _ in 3 } == 3)
    cache.checkInvariants()
  }

  @Test("A load that hangs delays no other key, with equal hashes and one shard")
  func slowLoader() throws {
    let cache = Cache<Collider, Int>(shards: 1)
    let gate = Switch()
    let hanging = Counter()
    onThreads(4) { thread in
      if thread == 0 {
        let value = try? blocking(cache, Collider(0)) { _ in
          hanging.next()
          waitUntil("the others") { gate.isOn }
          return 1
        }
        precondition(value == 1)
      } else {
        waitUntil("the slow load") { hanging.value >= 1 }
        for number in 1...50 {
          let key = Collider(thread * 100 + number)
          let value = try? blocking(cache, key) { $0.id }
          precondition(value == key.id)
          cache.insert(-1, forKey: key)
          cache.removeValue(forKey: key)
        }
        if hanging.next() == 4 { gate.turnOn() }
      }
    }
    #expect(cache.flightCount == 0)
    #expect(cache.value(forKey: Collider(0)) == 1)
    cache.checkInvariants()
  }

  @Test("A value that is too costly reaches its callers and is not stored")
  func tooCostly() throws {
    let cache = Cache<Int, Int>(totalCostLimit: 10, cost: { _, value in value })
    #expect(try blocking(cache, 1) { _ in 50 } == 50)
    #expect(cache.count == 0 && cache.flightCount == 0)
    #expect(try blocking(cache, 1) { _ in 5 } == 5)
    #expect(cache.totalCost == 5)
  }

  @Test("Loaded objects are released once, whoever waited")
  func lifetimes() async throws {
    let tracker = LifetimeTracker()
    do {
      let cache = Cache<Int, Tracked>(countLimit: 4)
      for round in 0..<50 {
        await withTaskGroup { group in
          for key in 0..<8 {
            group.addTask {
              _ = try? await cache.value(forKey: key) { _ in tracker.make(round) }
            }
          }
        }
        cache.removeValue(forKey: round % 8)
      }
      cache.removeAll()
      cache.reclaim()
      waitUntil("released") { tracker.live == 0 }
    }
    #expect(tracker.faults.isEmpty)
  }
}
