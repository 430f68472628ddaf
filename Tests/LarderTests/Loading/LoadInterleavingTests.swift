// SPDX-License-Identifier: Apache-2.0
#if DEBUG
  import Larder
  import LarderTestSupport
  import Testing

  /// Two who load, and one who writes, in many orders of the steps at which they can meet. At full
  /// length these are all orders. Where the one who writes then loads, too, there are some
  /// millions: the test takes all in which a thread that could go on lets others go first at most
  /// four times. Few faults need more (Musuvathi and Qadeer, 2007).
  @Suite("Interleavings of loads and writes", .timeLimit(.minutes(20)), .serialized)
  struct LoadInterleavingTests {
    enum Write: CaseIterable, Sendable {
      case remove, insert, removeAll

      func perform(on cache: Cache<Int, Int>) {
        switch self {
        case .remove: cache.removeValue(forKey: 1)
        case .insert: cache.insert(-1, forKey: 1)
        case .removeAll: cache.removeAll()
        }
      }
    }

    /// What a run has to be judged by. Only the thread whose turn it is touches it.
    final class Record: @unchecked Sendable {
      var step = 0
      var loadsBegan: [Int] = []  // of load n
      var loadsEnded: [Int] = []
      var writeBegan = Int.max
      var writeEnded = Int.max
      var reads: [(began: Int, value: Int?)] = []

      func now() -> Int {
        step += 1
        return step
      }

      /// Whether a read that began after the write has a value whose load began before it, or one
      /// that somebody inserted was lost.
      func isStale(_ read: (began: Int, value: Int?)) -> Bool {
        guard read.began > writeEnded, let value = read.value, value >= 0 else { return false }
        return loadsBegan[value] < writeBegan
      }

      /// Whether two loads were under way at once that no write has parted.
      var overlaps: Bool {
        loadsBegan.indices.dropFirst().contains { second in
          loadsEnded.count > 0 && loadsBegan[second] < loadsEnded[second - 1]
            && !(writeBegan < loadsBegan[second])
        }
      }
    }

    @Test(
      "No stale value, no lost wake-up, no leaked flight", arguments: Write.allCases, [false, true])
    func all(write: Write, thenLoads: Bool) {
      var choices = Choices()
      var random = SplitMix64(seed: 1)
      var runs = 0
      let turns = Turns(threads: 3)
      let isWhole = Stress.divisor == 1
      let most = isWhole ? Int.max : Stress.scaled(20_000, atLeast: 200)
      repeat {
        runs += 1
        let preemptions = isWhole && thenLoads ? 4 : .max
        let isFine = Self.run(write, thenLoads, on: turns, preemptions: preemptions) { count in
          isWhole ? choices.choose(count) : random.below(count)
        }
        #expect(isFine, "\(write), run \(runs)")
        if !isFine { return }
      } while runs < most && (!isWhole || choices.next())
      turns.end()
      #expect(runs >= 200)
    }

    @Test("Who joins a task's flight that found a value gets none that was removed before")
    func joinsTheFinder() async throws {
      let cache = Cache<Int, Int>()
      let (removes, found, removed) = (Switch(), Switch(), Switch())
      RealThread {
        // It has looked for flights, and is about to remove.
        let wait: @Sendable (() -> Bool) -> Void = { _ in
          removes.turnOn()
          waitUntil("the value is found") { found.isOn }
        }
        LoadPoints.$stop.withValue(wait) { cache.removeAll() }
        removed.turnOn()
      }.detach()
      waitUntil("the removal begins") { removes.isOn }
      let joined = Protected<Int?>(nil)
      let place = Counter()
      let meet: @Sendable (() -> Bool) -> Void = { _ in
        switch place.next() {
        // The task has missed, and is about to look once more.
        case 1: cache[1] = 1
        // It has found the value.
        case 2:
          found.turnOn()
          waitUntil("the removal ends") { removed.isOn }
          RealThread { joined.withLock { $0 = try? blocking(cache, 1) { _ in 2 } } }.detach()
          waitUntil("the second caller joins") { cache.loadStatistics.shared == 1 }
        default: break
        }
      }
      let value = try await LoadPoints.$stop.withValue(meet) {
        try await cache.value(forKey: 1) { _ in 3 }
      }
      #expect(value == 1)
      waitUntil("the second caller returns") { joined.withLock { $0 != nil } }
      #expect(joined.withLock { $0 } == 2)
      #expect(cache.flightCount == 0 && cache.countedFlights == 0)
    }

    private static func run(
      _ write: Write, _ thenLoads: Bool, on turns: Turns, preemptions: Int,
      _ choose: (Int) -> Int
    ) -> Bool {
      let cache = Cache<Int, Int>(shards: 1)
      cache.insert(0, forKey: 2)
      let record = Record()
      let bodies = (0..<3).map { index in
        {
          LoadPoints.$stop.withValue({ turns.stop(index, when: $0) }) {
            if index < 2 {
              load(cache, record, turns, index)
            } else {
              record.writeBegan = record.now()
              write.perform(on: cache)
              record.writeEnded = record.now()
              if thenLoads { load(cache, record, turns, index) }
            }
          }
        }
      }
      guard turns.play(bodies, preemptions: preemptions, choose) else { return false }
      record.reads.append((record.now(), cache.peek(forKey: 1)))
      cache.checkInvariants()
      let isLost = write == .insert && cache.peek(forKey: 1) != -1
      return !record.reads.contains(where: record.isStale) && !record.overlaps && !isLost
        && cache.flightCount == 0 && cache.countedFlights == 0
    }

    private static func load(
      _ cache: Cache<Int, Int>, _ record: Record, _ turns: Turns, _ index: Int
    ) {
      let began = record.now()
      let value = try? blocking(cache, 1) { _ in
        let number = record.loadsBegan.count
        record.loadsBegan.append(record.now())
        record.loadsEnded.append(.max)
        turns.stop(index) { true }
        record.loadsEnded[number] = record.now()
        return number
      }
      record.reads.append((began, value))
    }
  }
#endif
