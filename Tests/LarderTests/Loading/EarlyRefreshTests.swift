// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// XFetch: values that are loaded anew before they expire, by chance and by the time of their load.
@Suite("Early refreshes", .timeLimit(.minutes(20)))
struct EarlyRefreshTests {
  typealias Subject = RefreshTests.Subject

  /// A cache of values that live for 100 seconds, unless told otherwise, and take 2 to load.
  private func subject(
    beta: Double?, chance: Double?, refreshAfter: Duration? = nil,
    expiration: Expiration = .afterWrite(.seconds(100))
  ) -> Subject {
    var loading = LoadingOptions(refreshAfter: refreshAfter, earlyRefresh: beta)
    if let chance { loading.chance = { chance } }
    return Subject(loading, expiration: expiration) { number, clock in
      clock.advance(by: .seconds(2))
      return number
    }
  }

  /// How many seconds before its deadline a value is loaded anew; `nil` for never.
  private func secondsBefore(_ subject: Subject) async throws -> Int? {
    let cache = subject.cache
    #expect(try await cache[1] == 1)
    for left in stride(from: 99, to: 0, by: -1) {
      subject.clock.advance(by: .seconds(1))
      #expect(try await cache[1] == 1)
      if cache.statistics.refreshes > 0 {
        await subject.settle()
        #expect(try await cache[1] == 2)
        return left
      }
    }
    return nil
  }

  @Test("The moment is that of the formula: time x beta x -ln(chance) before the deadline")
  func formula() async throws {
    // e^-5, so that the factor is just above 5.
    let chance = 0.006737
    #expect(try await secondsBefore(subject(beta: 1, chance: chance)) == 10)
    #expect(try await secondsBefore(subject(beta: 3, chance: chance)) == 30)
    #expect(try await secondsBefore(subject(beta: 0.25, chance: chance)) == 2)
    #expect(try await secondsBefore(subject(beta: 1, chance: 1)) == nil)
    #expect(try await secondsBefore(subject(beta: nil, chance: chance)) == nil)
    // The lowest chance there is, and a factor with which that is before the value was stored.
    #expect(try await secondsBefore(subject(beta: 1, chance: 0x1p-53)) == 73)
    #expect(try await secondsBefore(subject(beta: 10, chance: 0x1p-53)) == 99)
  }

  @Test("Real chance: over many keys the moments have the mean of the formula")
  func chance() async throws {
    // Asked once, s seconds before the deadline, a key is loaded with probability e^(-s / 2).
    let keys = 4_000
    let clock = ManualClock()
    let cache = LoadingCache<Int, Int>(
      expiration: .afterWrite(.seconds(100)), options: .init(clock: .manual(clock)),
      loading: .init(earlyRefresh: 1)
    ) { $0 }
    // The keys of one bulk have the time of the whole.
    let loaded = await cache.cache.values(forKeys: Array(0..<keys)) { keys in
      clock.advance(by: .seconds(2))
      return Dictionary(uniqueKeysWithValues: keys.map { ($0, $0) })
    }
    #expect(loaded.count == keys)
    clock.advance(by: .seconds(98))
    for key in 0..<keys { #expect(try await cache[key] == key) }
    // 1/e of 4,000 is 1,472; ten standard deviations are 305.
    #expect(abs(cache.statistics.refreshes - 1_472) < 305)
    while cache.cache.flightCount > 0 || cache.cache.countedFlights > 0 { await Task.yield() }
  }

  @Test("One early load for a value, though it fails; inserted values and endless ones have none")
  func once() async throws {
    var loading = LoadingOptions(earlyRefresh: 1)
    loading.chance = { 0.006737 }
    let subject = Subject(loading, expiration: .afterWrite(.seconds(100))) { number, clock in
      if number > 1 { throw RefreshTests.Broken() }
      clock.advance(by: .seconds(2))
      return number
    }
    let cache = subject.cache
    #expect(try await cache[1] == 1)
    cache.cache[2] = 5
    cache.cache.insert(6, forKey: 3, expiresAfter: .seconds(1_000_000_000_000))
    subject.clock.advance(by: .seconds(95))
    for _ in 0..<5 {
      for key in 1...3 { #expect(try await cache[key] == [1, 5, 6][key - 1]) }
      await subject.settle()
    }
    #expect(cache.statistics.refreshes == 1 && cache.statistics.failures == 1)
    cache.cache.checkInvariants()
  }

  @Test("The deadline is the one that uses do not move", arguments: [3, 10, 90, 1_000])
  func idle(seconds: Int) async throws {
    let idle = Duration.seconds(seconds)
    func before(_ expiration: Expiration, chance: Double = 0.006737) async throws -> Int? {
      try await secondsBefore(subject(beta: 1, chance: chance, expiration: expiration))
    }
    #expect(try await before(.afterAccess(idle)) == nil)
    #expect(try await before(.afterAccess(idle), chance: 0x1p-53) == nil)
    #expect(try await before(.init(afterWrite: .seconds(100), afterAccess: idle)) == 10)
    // A lifetime of its own, in place of that of the cache.
    let own = subject(beta: 1, chance: 0.006737, expiration: .afterAccess(idle))
    #expect(try await own.cache[1] == 1)
    #expect(own.cache.cache.setLifetime(.seconds(20), forKey: 1))
    for left in stride(from: 19, through: 10, by: -1) {
      #expect(own.cache.statistics.refreshes == 0, "with \(left) left")
      own.clock.advance(by: .seconds(1))
      #expect(try await own.cache[1] == 1)
    }
    #expect(own.cache.statistics.refreshes == 1)
    await own.settle()
  }

  @Test("By age and early: whichever comes first")
  func both() async throws {
    let byAge = subject(beta: 1, chance: 0.006737, refreshAfter: .seconds(50))
    #expect(try await secondsBefore(byAge) == 50)
    let early = subject(beta: 1, chance: 0.006737, refreshAfter: .seconds(95))
    #expect(try await secondsBefore(early) == 10)
  }
}
