// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Lifetimes of single entries: given with an insertion, by a function, or later.
@Suite("Lifetimes of single entries")
struct EntryLifetimeTests {
  private typealias Numbers = Cache<Int, Int>
  private let clock = ManualClock()
  private var resolution: Duration { ExpirationTests.resolution }

  private func make(
    _ expiration: Expiration = .never, lifetime: (@Sendable (Int, Int) -> Duration?)? = nil,
    onRemoval: Numbers.RemovalObserver? = nil
  ) -> Numbers {
    Numbers(
      countLimit: 1_000, onRemoval: onRemoval, expiration: expiration,
      options: .init(lifetime: lifetime, clock: .manual(clock)))
  }

  @Test("A lifetime given with an insertion comes before the cache's")
  func givenLifetime() {
    let cache = make(.afterWrite(.seconds(10)))
    #expect(cache.insert(1, forKey: 1, expiresAfter: .seconds(2)) == .inserted)
    cache.insert(2, forKey: 2, cost: 3, expiresAfter: .seconds(20))
    cache.insert(3, forKey: 3, expiresAfter: nil)
    cache.insert(4, forKey: 4, expiresAfter: .seconds(Int64.max))
    clock.advance(by: .seconds(2))
    #expect(cache.values(forKeys: [1, 2, 3, 4]) == [nil, 2, 3, 4])
    clock.advance(by: .seconds(8))
    #expect(cache.values(forKeys: [1, 2, 3, 4]) == [nil, 2, nil, 4])
    clock.advance(by: .seconds(10))
    #expect(cache.values(forKeys: [1, 2, 3, 4]) == [nil, nil, nil, 4])
    #expect(cache.removeExpired() <= 3)
    #expect(cache.count == 1 && cache.totalCost == 0)
    cache.checkInvariants()
  }

  @Test("A replacement keeps nothing of the earlier deadline")
  func replacement() {
    let cache = make()
    cache.insert(1, forKey: 1, expiresAfter: .seconds(2))
    #expect(cache.insert(2, forKey: 1) == .replaced)
    clock.advance(by: .seconds(100))
    #expect(cache[1] == 2 && cache.remainingLifetime(forKey: 1) == nil)
    #expect(cache.insert(3, forKey: 1, expiresAfter: .seconds(2)) == .replaced)
    clock.advance(by: .seconds(2))
    #expect(cache[1] == nil)
    cache.checkInvariants()
  }

  @Test("A change in place keeps the deadline that the entry was given, and a rule's begins anew")
  func changeInPlace() {
    let cache = make(.afterWrite(.seconds(100)))
    cache.insert(1, forKey: 1, cost: 7, expiresAfter: .seconds(4))
    cache[2] = 1
    clock.advance(by: .seconds(1))
    cache.modifyValue(forKey: 1) { $0 += 1 }
    clock.advance(by: .seconds(1))
    cache[1]! += 1
    #expect(cache.totalCost == 7)
    clock.advance(by: .seconds(2) - resolution)
    #expect(cache[1] == 3)
    clock.advance(by: resolution)
    #expect(cache[1] == nil)
    clock.advance(by: .seconds(90))
    cache.modifyValue(forKey: 2) { $0 += 1 }
    cache[2]! += 1
    clock.advance(by: .seconds(99))
    #expect(cache[2] == 3)
    clock.advance(by: .seconds(1))
    #expect(cache[2] == nil)
  }

  @Test("A change in place keeps the deadline where the function names no lifetime")
  func changeWithFunction() throws {
    let cache = make(
      .afterWrite(.seconds(100)), lifetime: { _, value in value < 10 ? nil : .seconds(value) })
    for key in 1...3 { cache.insert(1, forKey: key, expiresAfter: .seconds(5)) }
    cache[4] = 1
    cache.setLifetime(.seconds(5), forKey: 4)
    clock.advance(by: .seconds(1))
    cache[1]! += 1
    cache.modifyValue(forKey: 2) { $0 += 1 }
    cache.updateValue(forKey: 3) { $0! += 1 }
    cache[4]! += 1
    for key in 1...4 {
      let left = try #require(cache.remainingLifetime(forKey: key))
      #expect(left <= .seconds(4) && left >= .seconds(4) - resolution * 2)
    }
    // What it names comes first, and is then the entry's own.
    cache[1]! += 18
    cache.modifyValue(forKey: 2) { $0 += 18 }
    clock.advance(by: .seconds(15))
    #expect(cache.keys.sorted() == [1, 2])
    cache[1]! -= 18
    cache.modifyValue(forKey: 2) { $0 -= 18 }
    clock.advance(by: .seconds(5) - resolution * 2)
    #expect(cache.keys.sorted() == [1, 2])
    clock.advance(by: resolution * 2)
    #expect(cache.keys.isEmpty)
    // Others go by the rule, but for one that never ends.
    cache[4] = 1
    cache.insert(1, forKey: 5, expiresAfter: .seconds(Int64.max))
    clock.advance(by: .seconds(90))
    cache[4]! += 1
    cache[5]! += 1
    clock.advance(by: .seconds(90))
    #expect(cache[4] == 2)
    clock.advance(by: .seconds(90))
    #expect(cache.keys == [5])
    cache.checkInvariants()
  }

  @Test("The function of key and value is asked for each value without a lifetime")
  func lifetimeFunction() {
    let calls = Protected<[Int]>([])
    let cache = make(
      .afterWrite(.seconds(50)),
      lifetime: { key, value in
        calls.withLock { $0.append(key) }
        return value < 0 ? nil : .seconds(value)
      })
    cache[1] = 10
    cache.insert(20, forKey: 2, cost: 1)
    cache.updateValue(30, forKey: 3)
    cache.insert(10, forKey: 4, expiresAfter: .seconds(100))
    cache.modifyValue(forKey: 5, default: 10) { $0 += 5 }
    cache[6] = -1
    #expect(calls.withLock { $0 } == [1, 2, 3, 5, 6])
    var living = [1, 2, 3, 4, 5, 6]
    for (time, gone) in [(10, 1), (5, 5), (5, 2), (10, 3), (20, 6), (50, 4)] {
      clock.advance(by: .seconds(time))
      living.removeAll { $0 == gone }
      #expect(cache.keys.sorted() == living)
    }
    cache.checkInvariants()
  }

  @Test("The remaining lifetime is asked for without a use")
  func remaining() throws {
    let cache = make(.afterWrite(.seconds(10)))
    cache[1] = 1
    cache.insert(2, forKey: 2, expiresAfter: .seconds(40))
    cache.insert(3, forKey: 3, expiresAfter: .seconds(Int64.max))
    clock.advance(by: .seconds(4))
    let first = try #require(cache.remainingLifetime(forKey: 1))
    #expect(first <= .seconds(6) && first >= .seconds(6) - resolution)
    let second = try #require(cache.remainingLifetime(forKey: 2))
    #expect(second <= .seconds(36) && second >= .seconds(36) - resolution * 2)
    #expect(cache.remainingLifetime(forKey: 3) == nil && cache.contains(3))
    #expect(cache.remainingLifetime(forKey: 4) == nil)
    clock.advance(by: .seconds(6))
    #expect(cache.remainingLifetime(forKey: 1) == nil)
    #expect(cache.statistics.hits == 0 && cache.statistics.misses == 0)
  }

  @Test("A lifetime can be lengthened and shortened, and its end is now")
  func setting() throws {
    let causes = Protected<[RemovalCause]>([])
    let cache = make(
      .afterWrite(.seconds(10)),
      onRemoval: { _, _, _, cause in causes.withLock { $0.append(cause) } })
    for key in 1...4 { cache[key] = key }
    clock.advance(by: .seconds(5))
    #expect(cache.setLifetime(.seconds(20), forKey: 1))
    #expect(cache.setLifetime(.seconds(1), forKey: 2))
    #expect(cache.setLifetime(.zero, forKey: 3))
    #expect(cache.setLifetime(.seconds(Int64.max), forKey: 4))
    #expect(!cache.setLifetime(.seconds(1), forKey: 5))
    #expect(cache.keys.sorted() == [1, 2, 4] && causes.withLock { $0 } == [.expired])
    clock.advance(by: .seconds(1))
    #expect(cache.keys.sorted() == [1, 4])
    #expect(!cache.setLifetime(.seconds(60), forKey: 2) && cache[2] == nil)
    clock.advance(by: .seconds(18))
    #expect(cache[1] == 1)
    clock.advance(by: .seconds(1))
    #expect(cache.keys == [4] && cache.remainingLifetime(forKey: 4) == nil)
    cache.removeExpired()
    #expect(cache.count == 1)
    cache.checkInvariants()
  }

  @Test("trim(toAge:) evicts what was stored longer ago, whatever its lifetime")
  func age() {
    let causes = Protected<[RemovalCause]>([])
    let cache = make(
      .afterWrite(.seconds(1_000)),
      onRemoval: { _, _, _, cause in causes.withLock { $0.append(cause) } })
    cache[1] = 1
    cache.insert(2, forKey: 2, expiresAfter: .seconds(500))
    cache.insert(3, forKey: 3, expiresAfter: .seconds(Int64.max))
    clock.advance(by: .seconds(60))
    for key in 4...6 { cache[key] = key }
    cache[1] = 1
    clock.advance(by: .seconds(60))
    cache.trim(toAge: .seconds(130))
    #expect(cache.count == 6)
    cache.trim(toAge: .seconds(100))
    #expect(cache.keys.sorted() == [1, 4, 5, 6])
    #expect(causes.withLock { $0 } == [.replaced, .trimmed, .trimmed])
    cache.trim(toAge: .zero)
    #expect(cache.isEmpty && cache.statistics.trimEvictions == 6)
    cache.checkInvariants()
  }

  @Test("What is left of a lifetime however much a value is used")
  func remainingIfUsed() {
    let clock = ManualClock()
    let cache = Cache<Int, Int>(
      expiration: .afterAccess(.seconds(10)), options: .init(clock: .manual(clock)))
    let copy = Cache<Int, Int>(
      expiration: .afterAccess(.seconds(10)), options: .init(clock: .manual(clock)))
    cache.insert(1, forKey: 1, expiresAfter: .seconds(60))
    cache[2] = 2
    clock.advance(by: .seconds(5))
    func isNear(_ lifetime: Duration?, _ seconds: Int) -> Bool {
      guard let lifetime else { return false }
      return lifetime <= .seconds(seconds) && lifetime > .seconds(seconds) - .milliseconds(200)
    }
    #expect(isNear(cache.remainingLifetime(forKey: 1), 5))
    #expect(isNear(cache.remainingLifetime(forKey: 1, ifUsed: true), 55))
    #expect(isNear(cache.remainingLifetime(forKey: 2), 5))
    #expect(cache.remainingLifetime(forKey: 2, ifUsed: true) == nil)
    #expect(cache.remainingLifetime(forKey: 3, ifUsed: true) == nil)
    // A copy lives as long as an original that is used.
    for key in [1, 2] {
      _ = cache[key]
      copy.insert(
        key, forKey: key, expiresAfter: cache.remainingLifetime(forKey: key, ifUsed: true))
    }
    for seconds in stride(from: 10, through: 70, by: 5) {
      clock.advance(by: .seconds(5))
      for key in [1, 2] { #expect(cache[key] == copy[key], "\(key) after \(seconds) s") }
    }
    #expect(cache[1] == nil && cache[2] == 2)
  }
}
