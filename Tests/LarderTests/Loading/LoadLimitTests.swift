// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Loads that wait for their turn, and lose their callers before it comes.
@Suite("Cancelled loads under a limit", .timeLimit(.minutes(20)))
struct LoadLimitTests {
  /// A key that notes that it lives.
  struct Name: Hashable, Sendable {
    let number: Int
    private let life: Tracked?

    init(_ number: Int, _ tracker: LifetimeTracker? = nil) {
      self.number = number
      life = tracker?.make()
    }

    static func == (a: Name, b: Name) -> Bool { a.number == b.number }
    func hash(into hasher: inout Hasher) { hasher.combine(number) }
  }

  /// Loads that nobody can interrupt, each of which waits until the gate opens.
  final class Subject: Sendable {
    let gate = Switch()
    let loads = Overlaps()
    let began = Protected<[Int]>([])
    let cache: LoadingCache<Name, Int>

    init(limit: Int) {
      cache = LoadingCache(loading: .init(loadLimit: limit)) { [gate, loads, began] name in
        loads.begin(0)
        began.withLock { $0.append(name.number) }
        while !gate.isOn { await Task.yield() }
        loads.end(0)
        return name.number
      }
    }

    func ask(_ name: Name) -> Task<Int, any Error> { Task { [cache] in try await cache[name] } }

    /// Asks for these keys, and returns when all turns are taken and all keys are in flight.
    func fill(_ numbers: Range<Int>, turns: Int) async -> [Task<Int, any Error>] {
      let tasks = numbers.map { ask(Name($0)) }
      while began.withLock({ $0.count }) < turns || cache.cache.flightCount < numbers.count {
        await Task.yield()
      }
      return tasks
    }
  }

  @Test("A load that has lost its callers before its turn is not run", arguments: [1, 2])
  func skips(limit: Int) async throws {
    let subject = Subject(limit: limit)
    let running = await subject.fill(0..<limit, turns: limit)
    let waiting = (100..<200).map { subject.ask(Name($0)) }
    let cache = subject.cache.cache
    while cache.flightCount < limit + 100 { await Task.yield() }
    // Every fourth is still wanted, by its own caller or by one that came later.
    let second = subject.ask(Name(102))
    while subject.cache.statistics.shared < 1 { await Task.yield() }
    let (kept, given) = (
      waiting.indices.filter { $0 % 4 == 0 }, waiting.indices.filter { $0 % 4 != 0 }
    )
    for index in given { waiting[index].cancel() }
    for index in given {
      await #expect(throws: CancellationError.self) { try await waiting[index].value }
    }
    #expect(subject.cache.statistics.cancellations == 74)
    // Who asks between the cancellation and the turn begins a load of its own.
    let again = subject.ask(Name(101))
    while cache.flightCount < limit + 25 + 1 + 1 { await Task.yield() }
    subject.gate.turnOn()
    for (number, task) in running.enumerated() { #expect(try await task.value == number) }
    for index in kept { #expect(try await waiting[index].value == 100 + index) }
    #expect(try await second.value == 102)
    #expect(try await again.value == 101)
    #expect(try await subject.cache[Name(5_000)] == 5_000)
    let wanted = Array(0..<limit) + kept.map { 100 + $0 } + [101, 102, 5_000]
    #expect(subject.began.withLock { $0.sorted() } == wanted.sorted())
    #expect(subject.loads.most <= limit)
    while cache.flightCount > 0 || cache.countedFlights > 0 { await Task.yield() }
    cache.checkInvariants()
  }

  @Test("It leaves the queue at once, although no turn comes", arguments: [1, 2])
  func leaves(limit: Int) async throws {
    let subject = Subject(limit: limit)
    let running = await subject.fill(0..<limit, turns: limit)
    let tracker = LifetimeTracker()
    var waiting = (100..<200).map { subject.ask(Name($0, tracker)) }
    while subject.cache.cache.flightCount < limit + 100 { await Task.yield() }
    for task in waiting { task.cancel() }
    for task in waiting { _ = try? await task.value }
    waiting = []
    while tracker.live > 0 || subject.cache.cache.countedFlights > limit { await Task.yield() }
    #expect(!subject.gate.isOn)
    subject.gate.turnOn()
    for task in running { _ = try await task.value }
  }

  @Test("What a loader leaves behind is no part of it once it has ended")
  func leftBehind() async throws {
    let (gate, loads) = (Switch(), Overlaps())
    let rest = Protected<Task<Int, Never>?>(nil)
    let asks = Protected<(@Sendable (Int) async throws -> Int)?>(nil)
    let cache = LoadingCache<Int, Int>(loading: .init(loadLimit: 2)) { key in
      if key > 0 {
        loads.begin(0)
        for _ in 0..<10 { await Task.yield() }
        loads.end(0)
        return key
      }
      let ask = asks.withLock { $0! }
      let left = Task {
        while !gate.isOn { await Task.yield() }
        return await withTaskGroup { group in
          for key in 1...40 { group.addTask { (try? await ask(key)) ?? 0 } }
          return await group.reduce(0, +)
        }
      }
      rest.withLock { $0 = left }
      return 0
    }
    asks.withLock { $0 = { try await cache[$0] } }
    #expect(try await cache[0] == 0)
    gate.turnOn()
    #expect(await rest.withLock { $0 }!.value == (1...40).reduce(0, +))
    #expect(loads.most <= 2)
    asks.withLock { $0 = nil }
  }

  @Test("A load may wait for what one that it asked for has left behind", arguments: [false, true])
  func leftToAnother(circle: Bool) async throws {
    let lefts = Cache<Int, Task<Int, any Error>>()
    let asks = Protected<(@Sendable (Int) async throws -> Int)?>(nil)
    let cache = LoadingCache<Int, Int>(loading: .init(loadLimit: 1)) { key in
      guard key == 0 else { return key }
      let ask = asks.withLock { $0! }
      let left = try await lefts.value(forKey: 1) { _ in
        Task { try await ask(circle ? 0 : 2) }
      }
      // The load of `left` is over. This one has the only turn, and waits for the task.
      return try await left.value
    }
    asks.withLock { $0 = { try await cache[$0] } }
    if circle {
      await #expect(throws: LoadCycle.self) { try await cache[0] }
    } else {
      #expect(try await cache[0] == 2)
    }
    asks.withLock { $0 = nil }
  }

  @Test("What a load of several keys leaves behind is no part of it", arguments: [false, true])
  func leftByMany(fails: Bool) async throws {
    struct Failed: Error {}
    let loads = Overlaps()
    let rest = Protected<Task<Void, Never>?>(nil)
    let gate = Switch()
    let asks = Protected<(@Sendable (Int) async throws -> Int)?>(nil)
    let cache = LoadingCache<Int, Int>(loading: .init(loadLimit: 2)) { keys in
      let ask = asks.withLock { $0! }
      if keys.contains(0) {
        let left = Task {
          while !gate.isOn { await Task.yield() }
          await withTaskGroup { group in
            for key in 10..<50 { group.addTask { _ = try? await ask(key) } }
          }
        }
        rest.withLock { $0 = left }
        if fails { throw Failed() }
      } else {
        loads.begin(0)
        for _ in 0..<10 { await Task.yield() }
        loads.end(0)
      }
      return Dictionary(uniqueKeysWithValues: keys.map { ($0, $0) })
    } load: { _ in
      fatalError("there is a loader of several keys")
    }
    asks.withLock {
      $0 = { key in try await cache.values(forKeys: [key])[key]!.get() }
    }
    let results = await cache.values(forKeys: [0, 1, 2])
    gate.turnOn()
    #expect(results.count == 3 && results.values.allSatisfy { ((try? $0.get()) == nil) == fails })
    await rest.withLock { $0 }!.value
    #expect(cache.cache.count == 40 + (fails ? 0 : 3))
    #expect(loads.most <= 2)
    asks.withLock { $0 = nil }
  }

  #if DEBUG
    @Test("It waits for no turn, and keeps none, whenever it is cancelled", arguments: [2, 3])
    func steps(step: Int) async throws {
      let subject = Subject(limit: 1)
      // At step 2 the load is about to ask for its turn, which another one has. At 3 it has it.
      let running = await subject.fill(0..<(step == 2 ? 1 : 0), turns: step == 2 ? 1 : 0)
      let caller = Protected<Task<Int, any Error>?>(nil)
      let steps = Counter()
      let cancel: @Sendable (() -> Bool) -> Void = { _ in
        guard steps.next() == step else { return }
        waitUntil("the caller is known") { caller.withLock { $0 != nil } }
        caller.withLock { $0 }!.cancel()
        waitUntil("the load is cancelled") { Task.isCancelled }
      }
      let task = LoadPoints.$stop.withValue(cancel) { subject.ask(Name(1)) }
      caller.withLock { $0 = task }
      await #expect(throws: CancellationError.self) { try await task.value }
      while subject.cache.cache.countedFlights > running.count { await Task.yield() }
      subject.gate.turnOn()
      for task in running { _ = try await task.value }
      #expect(try await subject.cache[Name(2)] == 2)
      #expect(subject.began.withLock { $0 } == (step == 2 ? [0, 2] : [2]))
    }
  #endif

  @Test("Callers come and go at random, no turn is lost, and the limit holds", arguments: [1, 3])
  func storm(limit: Int) async throws {
    let meets = Switch()
    let (loads, met) = (Overlaps(), Counter())
    let cache = LoadingCache<Int, Int>(loading: .init(loadLimit: limit)) { key in
      loads.begin(0)
      if meets.isOn {
        // Those of the end need all turns at once.
        met.next()
        while met.value < limit { await Task.yield() }
      } else {
        for _ in 0..<(key % 4) { await Task.yield() }
      }
      loads.end(0)
      return key
    }
    await withTaskGroup { group in
      for number in 0..<Stress.scaled(5_000) {
        group.addTask {
          let key = number % 50
          let task = Task { try await cache[key] }
          if number % 3 != 0 {
            for _ in 0..<(number % 5) { await Task.yield() }
            task.cancel()
          }
          let value = try? await task.value
          precondition(value == key || number % 3 != 0 && value == nil)
          if number % 4 == 0 { cache.cache.removeValue(forKey: key) }
        }
      }
    }
    while cache.cache.countedFlights > 0 { await Task.yield() }
    meets.turnOn()
    let last = (0..<limit).map { number in Task { try await cache[1_000 + number] } }
    for (number, task) in last.enumerated() { #expect(try await task.value == 1_000 + number) }
    #expect(loads.most <= limit)
    while cache.cache.countedFlights > 0 { await Task.yield() }
    cache.cache.checkInvariants()
  }
}
