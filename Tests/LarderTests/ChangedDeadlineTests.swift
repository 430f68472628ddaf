// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// The deadline of an entry that was given a lifetime, while its value is changed in place.
@Suite("Deadlines of entries that are changed")
struct ChangedDeadlineTests {
  private typealias Numbers = Cache<Int, Int>
  private let clock = ManualClock()
  private var resolution: Duration { ExpirationTests.resolution }

  init() {
    // No whole number of the core's ticks.
    clock.advance(by: .nanoseconds(1_000_000_001))
  }

  enum Change: CaseIterable, Sendable {
    case modify, update, assign

    /// Adds 1 to the value of key 1, if there is one, and meanwhile does something else.
    func callAsFunction(_ cache: Cache<Int, Int>, _ meanwhile: () -> Void = {}) {
      switch self {
      case .modify:
        cache.modifyValue(forKey: 1) {
          meanwhile()
          $0 += 1
        }
      case .update:
        cache.updateValue(forKey: 1) { value in
          meanwhile()
          value = value.map { $0 + 1 }
        }
      case .assign:
        if cache.contains(1) { add(&cache[1]!, meanwhile) }
      }
    }

    private func add(_ value: inout Int, _ meanwhile: () -> Void) {
      meanwhile()
      value += 1
    }
  }

  private func make(_ expiration: Expiration = .never) -> Numbers {
    Numbers(countLimit: 10, expiration: expiration, options: .init(clock: .manual(clock)))
  }

  @Test("Many changes leave the deadline where it is", arguments: Change.allCases)
  func manyChanges(change: Change) throws {
    let cache = make(.afterWrite(.seconds(1_000)))
    cache.insert(0, forKey: 1, expiresAfter: .seconds(3))
    for _ in 0..<10_000 { change(cache) }
    clock.advance(by: .seconds(3) - resolution)
    #expect(cache[1] == 10_000)
    clock.advance(by: resolution)
    #expect(cache[1] == nil)
    cache.checkInvariants()
  }

  @Test("A change that takes long does not move the deadline", arguments: Change.allCases)
  func longChange(change: Change) throws {
    for expiration in [Expiration.never, .afterAccess(.seconds(100))] {
      let cache = make(expiration)
      cache.insert(0, forKey: 1, expiresAfter: .seconds(10))
      change(cache) { clock.advance(by: .seconds(8)) }
      let left = try #require(cache.remainingLifetime(forKey: 1))
      #expect(left <= .seconds(2) && left >= .seconds(2) - resolution)
      change(cache) { clock.advance(by: .seconds(2)) }
      #expect(cache[1] == nil)
      cache.checkInvariants()
    }
  }

  @Test("What is removed during an assignment is stored with its deadline")
  func removedMeanwhile() throws {
    let cache = make()
    cache.insert(0, forKey: 1, expiresAfter: .seconds(10))
    Change.assign(cache) { cache.removeValue(forKey: 1) }
    #expect(cache[1] == 1)
    #expect(try #require(cache.remainingLifetime(forKey: 1)) <= .seconds(10))
  }

  /// A key that does something each time that it is hashed.
  private struct Hooked: Hashable, Sendable {
    let onHash: @Sendable () -> Void

    static func == (left: Hooked, right: Hooked) -> Bool { true }

    func hash(into hasher: inout Hasher) { onHash() }
  }

  @Test("An assignment does not revive what expires after it was read", arguments: 1...3)
  func expiredMeanwhile(hash: Int) {
    let hashes = Protected(0)
    let key = Hooked { [clock] in
      let number = hashes.withLock { count in
        count += 1
        return count
      }
      if number == hash { clock.advance(by: .seconds(20)) }
    }
    let cache = Cache<Hooked, Int>(countLimit: 10, options: .init(clock: .manual(clock)))
    cache.insert(0, forKey: Hooked {}, expiresAfter: .seconds(10))
    cache[key]? += 1
    clock.advance(by: .seconds(20))
    #expect(cache[Hooked {}] == nil)
  }

  @Test("An endless lifetime stays endless", arguments: Change.allCases)
  func endless(change: Change) {
    let cache = make(.afterWrite(.seconds(10)))
    cache.insert(0, forKey: 1, expiresAfter: .seconds(Int64.max))
    change(cache)
    clock.advance(by: .seconds(1_000))
    #expect(cache[1] == 1 && cache.remainingLifetime(forKey: 1) == nil)
  }

  @Test("A rule that changes during a change holds for the entry, and so does the next")
  func ruleChanges() throws {
    let cache = make(.afterAccess(.seconds(10)))
    cache.insert(0, forKey: 1, expiresAfter: .seconds(100))
    cache.modifyValue(forKey: 1) {
      cache.expiration = .afterAccess(.seconds(20))
      $0 += 1
    }
    #expect(try #require(cache.remainingLifetime(forKey: 1)) > .seconds(19))
    cache.expiration = .afterAccess(.seconds(5))
    #expect(try #require(cache.remainingLifetime(forKey: 1)) <= .seconds(5))
  }

  @Test("trim(toAge:) keeps what is exactly so old, and counts a change as newly stored")
  func age() {
    for start in [Duration.zero, .nanoseconds(4_095), .seconds(10)] {
      clock.advance(by: start)
      let cache = make(.afterWrite(.seconds(1_000)))
      cache[1] = 1
      cache.trim(toAge: .zero)
      clock.advance(by: .seconds(5))
      cache.trim(toAge: .seconds(5))
      #expect(cache.contains(1))
      clock.advance(by: resolution * 2)
      cache.trim(toAge: .seconds(5))
      #expect(!cache.contains(1))
      cache.insert(1, forKey: 1, expiresAfter: .seconds(100))
      clock.advance(by: .seconds(50))
      Change.modify(cache)
      clock.advance(by: .seconds(10))
      cache.trim(toAge: .seconds(20))
      #expect(cache.contains(1))
    }
  }
}
