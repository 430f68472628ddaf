// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Synchronization
import Testing

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Replacements that need room from other shards, which takes several turns with locks, while other
/// threads write to the same key.
@Suite("Replacements that take room elsewhere", .timeLimit(.minutes(20)))
struct ReplacementThreadTests {
  private static func cache() -> Cache<Int, Int> {
    Cache(totalCostLimit: 100, policy: .lru, options: .init(shards: 64))
  }

  /// What is shared by the threads of a test.
  private final class Race: Sendable {
    let isOver = Atomic(false)
    let turns = Atomic(0)
    let misses = Protected<[Int]>([])
    let outcomes = Protected<[InsertionOutcome]>([])

    var goesOn: Bool { !isOver.load(ordering: .relaxed) }

    /// Lets the other thread do a few turns.
    func pause() {
      let now = turns.load(ordering: .acquiring)
      while goesOn && turns.load(ordering: .acquiring) < now + 3 { sched_yield() }
    }
  }

  /// Takes the room again that replacements free.
  private static func press(_ cache: Cache<Int, Int>) {
    for key in 100..<104 { cache.insert(0, forKey: key, cost: 24) }
  }

  @Test("A change in place does not bring back what was removed meanwhile")
  func removedStaysAway() {
    let (cache, race) = (Self.cache(), Race())
    let rounds = Stress.scaled(4_000)
    onThreads(3) { thread in
      switch thread {
      case 0:
        for round in 0..<rounds {
          cache.insert(round, forKey: 1, cost: 1)
          for _ in 0..<round % 200 { _ = cache.peek(forKey: 1) }
          cache.removeValue(forKey: 1)
          race.pause()
          if cache.removeValue(forKey: 1) != nil { race.misses.withLock { $0.append(round) } }
          race.pause()
        }
        race.isOver.store(true, ordering: .relaxed)
      case 1:
        while race.goesOn {
          cache.modifyValue(forKey: 1, cost: 60) { $0 += 0 }
          race.turns.add(1, ordering: .releasing)
        }
      default:
        while race.goesOn {
          Self.press(cache)
          sched_yield()  // one processor would else be its for a slice of time in each pause
        }
      }
    }
    #expect(race.misses.withLock { $0.isEmpty }, "it came back")
    cache.checkInvariants()
  }

  @Test("A key whose value is replaced always has one")
  func neverWithoutValue() {
    let (cache, race) = (Self.cache(), Race())
    let insertions = Stress.scaled(100_000)
    onThreads(3) { thread in
      switch thread {
      case 0:
        var outcomes: [InsertionOutcome] = []
        for number in 0..<insertions {
          outcomes.append(cache.insert(number, forKey: 1, cost: number % 2 == 0 ? 1 : 60))
        }
        race.isOver.store(true, ordering: .relaxed)
        race.outcomes.withLock { $0 = outcomes }
      case 1:
        var misses: [Int] = []
        var (last, isMissed) = (-1, false)
        while race.goesOn {
          guard let value = cache.peek(forKey: 1) else {
            isMissed = true
            continue
          }
          // A value that was missed between its lookup and that of the next had been evicted. So
          // the insertion of the next replaces nothing.
          if isMissed && value == last + 1 { misses.append(value) }
          (last, isMissed) = (value, false)
        }
        race.misses.withLock { $0 = misses }
      default:
        while race.goesOn { Self.press(cache) }
      }
    }
    let outcomes = race.outcomes.withLock { $0 }
    let misses = race.misses.withLock { $0 }
    let wrong = misses.filter { outcomes[$0] == .replaced }
    #expect(wrong.isEmpty, "\(wrong.count) of \(misses.count) misses")
    cache.checkInvariants()
  }
}
