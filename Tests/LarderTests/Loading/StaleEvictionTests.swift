// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Values that are kept past their deadline for loads that fail give way before living ones.
@Suite("Eviction of stale values")
struct StaleEvictionTests {
  private final class Thing: Sendable {}

  private let clock = ManualClock()

  /// A cache whose values live for ten seconds, and are kept for an hour more.
  private func make<Value: Sendable>(
    countLimit: Int = 0, _ options: Cache<Int, Value>.Options,
    _ load: @escaping @Sendable () -> Value
  ) -> Cache<Int, Value> {
    var options = options
    options.clock = .manual(clock)
    return LoadingCache<Int, Value>(
      countLimit: countLimit, policy: .lru, expiration: .afterWrite(.seconds(10)),
      options: options, loading: .init(staleIfError: .seconds(3_600))
    ) { _ in load() }.cache
  }

  /// Stores keys of cost 1 before and after the others have become stale.
  private func fill(_ cache: Cache<Int, Int>, stale: Int, living: Int) {
    for key in 0..<stale { cache.insert(key, forKey: key, cost: 1) }
    clock.advance(by: .seconds(11))
    for key in stale..<stale + living { cache.insert(key, forKey: key, cost: 1) }
    #expect(cache.count == stale + living)
  }

  enum Trim: CaseIterable, Codable, Sendable {
    case costliest, oldestByCount, oldestByCost

    func run(_ cache: Cache<Int, Int>, to left: Int) {
      switch self {
      case .costliest: cache.trimCostliest(toCost: left)
      case .oldestByCount: cache.trimOldest(toCount: left)
      case .oldestByCost: cache.trimOldest(toCost: left)
      }
    }
  }

  @Test("Trims by rank take them first", arguments: Trim.allCases)
  func trims(trim: Trim) {
    let causes = Protected<[RemovalCause]>([])
    let cache = make(
      .init(
        onRemoval: { _, _, _, cause in causes.withLock { $0.append(cause) } }, remembersAge: true)
    ) { 0 }
    fill(cache, stale: 900, living: 100)
    trim.run(cache, to: 500)
    #expect(cache.totalCost == 500)
    #expect(Set(cache.keys) == Set(900..<1_000))
    trim.run(cache, to: 50)
    #expect(cache.totalCost == 50 && cache.keys.count == 50)
    let seen = causes.withLock { $0 }
    #expect(seen.count { $0 == .expired } == 900 && seen.count { $0 == .trimmed } == 50)
    cache.checkInvariants()
  }

  @Test("They go without being asked for")
  func vetoes() {
    let asked = Protected<[Int]>([])
    let cache = make(
      countLimit: 10,
      .init(shouldEvict: { key, _ in
        asked.withLock { $0.append(key) }
        return true
      })
    ) { 0 }
    fill(cache, stale: 9, living: 1)
    for key in 10..<19 { cache[key] = key }
    #expect(Set(cache.keys) == Set(9..<19) && cache.count == 10)
    #expect(asked.withLock { $0.isEmpty })
    cache[19] = 19
    #expect(asked.withLock { $0 } == [9] && !cache.contains(9))
    cache.checkInvariants()
  }

  @Test("removeUnreferenced() takes those that nobody holds, and does not count them")
  func unreferenced() {
    let cache = make(.init()) { Thing() }
    let held = Thing()
    for key in 0..<10 { cache[key] = Thing() }
    cache[10] = held
    clock.advance(by: .seconds(11))
    for key in 11..<20 { cache[key] = Thing() }
    #expect(cache.removeUnreferenced() == 9)
    #expect(cache.count == 1 && cache.keys.isEmpty)
    cache.checkInvariants()
    withExtendedLifetime(held) {}
  }
}
