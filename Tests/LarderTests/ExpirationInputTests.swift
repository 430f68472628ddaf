// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Lifetimes that are none, that never end, and that make no sense.
@Suite("Lifetimes at their ends")
struct ExpirationInputTests {
  private let clock = ManualClock()

  static let none: [Duration] = [
    .zero, .nanoseconds(-1), .seconds(-1), .seconds(Int64.min), .seconds(Int64.min) * 10,
  ]

  /// A hundred years, and what is beyond.
  static let endless: [Duration] = [
    .seconds(3_155_760_001), .seconds(3_155_760_000) * 2, .seconds(18_446_744_073),
    .seconds(18_446_744_074), .seconds(Int64.max), .seconds(Int64.max) * 10,
  ]

  private func make(
    _ expiration: Expiration, onRemoval: Cache<Int, Int>.RemovalObserver? = nil
  ) -> Cache<Int, Int> {
    Cache(onRemoval: onRemoval, expiration: expiration, options: .init(clock: .manual(clock)))
  }

  @Test("A value without any time to live is not stored, and the old one goes", arguments: none)
  func noLifetime(lifetime: Duration) {
    let causes = Protected<[RemovalCause]>([])
    let cache = make(
      .never, onRemoval: { _, _, _, cause in causes.withLock { $0.append(cause) } })
    #expect(cache.insert(1, forKey: 1, expiresAfter: lifetime) == .expired)
    #expect(!InsertionOutcome.expired.isStored && cache.isEmpty)
    cache[1] = 1
    #expect(cache.insert(2, forKey: 1, expiresAfter: lifetime) == .expired)
    #expect(cache.isEmpty && causes.withLock { $0 } == [.removed])
    cache.checkInvariants()
  }

  @Test("So it is when the cache or its function says so", arguments: none)
  func noLifetimeAtAll(lifetime: Duration) {
    let cache = make(.never)
    cache[1] = 1
    cache.expiration = .afterWrite(lifetime)
    #expect(!cache.contains(1) && cache.insert(1, forKey: 1) == .expired && cache.keys.isEmpty)
    #expect(cache.updateValue(1, forKey: 1) == nil)
    cache.expiration = .afterAccess(lifetime)
    #expect(cache.insert(1, forKey: 1) == .expired && cache.keys.isEmpty)
    let asking = Cache<Int, Int>(
      options: .init(lifetime: { _, value in value < 0 ? lifetime : nil }, clock: .manual(clock)))
    asking[1] = 1
    #expect(asking.updateValue(-1, forKey: 1) == 1 && asking.isEmpty)
    asking[2] = 2
    #expect(asking.modifyValue(forKey: 2) { $0 = -2 } == .expired && asking.isEmpty)
    asking.checkInvariants()
  }

  @Test("More than a hundred years never end", arguments: endless)
  func endlessLifetime(lifetime: Duration) {
    let caches = [
      make(.afterWrite(lifetime)), make(.afterAccess(lifetime)),
      make(.afterWrite(.seconds(1))), make(Expiration(afterWrite: lifetime, jitter: 1)),
    ]
    caches[2].insert(1, forKey: 1, expiresAfter: lifetime)
    caches[2].insert(2, forKey: 2)
    #expect(caches[2].setLifetime(lifetime, forKey: 2))
    for cache in caches {
      cache[3] = 1
      #expect(cache.setLifetime(lifetime, forKey: 3))
      if cache !== caches[2] { cache[4] = 1 }
    }
    for _ in 0..<3 {
      clock.advance(by: .seconds(3_155_760_000))
      for cache in caches {
        #expect(cache.removeExpired() == 0)
        #expect(cache.keys.count == (cache === caches[2] ? 3 : 2))
        #expect(cache.keys.allSatisfy { cache.remainingLifetime(forKey: $0) == nil })
        cache.checkInvariants()
      }
    }
  }

  @Test("A clock at its end neither wraps nor traps")
  func endOfTime() {
    let cache = make(Expiration(afterWrite: .seconds(3_155_760_000), afterAccess: .seconds(60)))
    for _ in 0..<20 {
      cache[1] = 1
      cache.insert(2, forKey: 2, expiresAfter: .seconds(3_155_760_000))
      cache.insert(3, forKey: 3, expiresAfter: .nanoseconds(1))
      _ = cache[1]
      _ = cache.remainingLifetime(forKey: 2)
      cache.setLifetime(.seconds(3_155_760_000), forKey: 2)
      cache.trim(toAge: .seconds(Int64.max))
      cache.trim(toAge: .seconds(3_000_000_000))
      clock.advance(by: .seconds(Int64.max))
      clock.advance(by: .seconds(1_000_000_000))
      cache.removeExpired()
      cache.checkInvariants()
    }
  }

  enum BadCall: String, CaseIterable, Codable, Sendable {
    case negativeJitter, largeJitter, noJitter, infiniteJitter, backwards, age

    /// Words of which the message contains one.
    var argument: Set<Substring> {
      switch self {
      case .backwards: ["time"]
      case .age: ["age"]
      default: ["jitter"]
      }
    }

    func perform() {
      switch self {
      case .negativeJitter: _ = Expiration(afterWrite: .seconds(1), jitter: -0.1)
      case .largeJitter: _ = Expiration.afterWrite(.seconds(1), jitter: 1.1)
      case .noJitter: _ = Expiration(jitter: .nan)
      case .infiniteJitter: _ = Expiration(afterAccess: .seconds(1), jitter: .infinity)
      case .backwards: ManualClock().advance(by: .nanoseconds(-1))
      case .age:
        Cache<Int, Int>(expiration: .afterWrite(.seconds(1))).trim(toAge: .seconds(-1))
      }
    }
  }

  @Test("A call that breaks its contract traps", arguments: BadCall.allCases)
  func badCallTraps(call: BadCall) async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [call = call as BadCall] in
      call.perform()
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    let line = message.split(separator: "\n").first { $0.contains("must") }
    let words = (line ?? "").split { !$0.isLetter && !$0.isNumber }
    #expect(!call.argument.isDisjoint(with: words), "\(message)")
  }

  @Test("What an expiration says of itself")
  func values() {
    #expect(Expiration() == .never && Expiration.never.jitter == 0)
    #expect(Expiration.afterWrite(.seconds(1)) == Expiration(afterWrite: .seconds(1)))
    #expect(Expiration.afterWrite(.seconds(1), jitter: 1).jitter == 1)
    #expect(Expiration.afterAccess(.seconds(1)) == Expiration(afterAccess: .seconds(1)))
    #expect(Cache<Int, Int>().expiration == .never)
    let expiration = Expiration(afterWrite: .seconds(5), afterAccess: .seconds(2), jitter: 0.25)
    #expect(make(expiration).expiration == expiration)
  }
}
