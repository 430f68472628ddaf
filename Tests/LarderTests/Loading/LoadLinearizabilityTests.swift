// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// What threads saw while they loaded, wrote, evicted and moved the clock must have an order in
/// which no load comes back over a write.
@Suite("Histories of loads", .timeLimit(.minutes(20)), .serialized)
struct LoadLinearizabilityTests {
  @Test("Recorded histories are linearizable", arguments: [1, 4])
  func histories(shards: Int) {
    // 8 threads with 200 calls, 320 times, for 1 and for 4 shards: a million calls.
    for round in 0..<Stress.scaled(320, atLeast: 4) {
      let clock = ManualClock()
      let cache = Cache<Int, Int>(
        shards: shards, expiration: .afterWrite(.seconds(LoadSubject.lifetime)),
        options: .init(clock: .manual(clock)))
      let subject = LoadSubject(
        load: { try! blocking(cache, $0, $1) }, read: { cache.value(forKey: $0) },
        insert: { cache.insert($1, forKey: $0) }, remove: { cache.removeValue(forKey: $0) },
        removeAll: { cache.removeAll() }, evict: { cache.trim(toCount: 1) },
        move: { clock.advance(by: .seconds(1)) }, refresh: nil)
      let history = subject.record(round: round, threads: 8, calls: 200)
      let fault = history.fault()
      #expect(fault == nil, "round \(round)")
      #expect(history.unfinished == 0 && cache.flightCount == 0 && cache.countedFlights == 0)
      cache.checkInvariants()
      if fault != nil { return }
    }
  }

  @Test("The checker finds each seeded fault", arguments: FaultyLoadingCache.Fault.allCases)
  func seededFaults(fault: FaultyLoadingCache.Fault) {
    // A fault may have others in its train: two loads at once leave one that no write outdates.
    // Where threads seldom run at the same time, a fault may need many rounds to show itself.
    let rounds = fault == .none ? 200 : 100_000
    let found = (0..<rounds).lazy.compactMap { round in
      FaultyLoadingCache(fault).subject.record(round: round, threads: 8, calls: 60).fault()
    }.first { found in
      switch (fault, found) {
      case (.none, _), (.lostWaiter, .lostWaiter), (.loadsAtOnce, .loadsAtOnce): true
      case (.returnsExpired, .expired): true
      case (.lostWaiter, _), (.loadsAtOnce, _), (.returnsExpired, _): false
      case (_, .stale): true
      case (_, _): false
      }
    }
    #expect((found == nil) == (fault == .none), "\(String(describing: found))")
  }

  @Test("A value is found until its time is over for certain, not longer")
  func expiry() {
    func fault(readAt moment: UInt64) -> LoadHistory.Fault? {
      var history = LoadHistory()
      history.lifetime = 2
      // The first move may come before the value is stored.
      history.moves = [(3, 6), (10, 11), (12, 15), (20, 21)]
      history.calls = [
        Call(key: 0, kind: .write(7, replaced: nil), thread: 0, began: 2, ended: 5),
        Call(key: 0, kind: .read(7), thread: 1, began: moment, ended: 30),
      ]
      return history.fault()
    }
    #expect(fault(readAt: 14) == nil)
    #expect(fault(readAt: 16) == .expired(key: 0))
  }

  @Test("Who joins a flight gets its value after an eviction, but not after a write")
  func joins() {
    func fault(_ between: Call.Kind, joinedAt moment: UInt64) -> LoadHistory.Fault? {
      var history = LoadHistory()
      let kinds: [(Call.Kind, UInt64, UInt64)] = [
        (.write(7, replaced: nil), 1, 2), (.read(7), 0, 9), (between, 3, 4), (.read(7), moment, 10),
      ]
      history.calls = kinds.enumerated().map { thread, call in
        Call(key: 0, kind: call.0, thread: thread, began: call.1, ended: call.2)
      }
      history.waits = [history.calls[1], history.calls[3]]
      return history.fault()
    }
    #expect(fault(.read(nil), joinedAt: 5) == nil)
    #expect(fault(.read(nil), joinedAt: 9) == .noOrder(key: 0))
    #expect(fault(.remove(7), joinedAt: 5) == .stale(key: 0))
  }
}

/// Something that loads, and threads that use it at random.
struct LoadSubject: Sendable {
  let load: @Sendable (Int, (Int) -> Int) -> Int?
  let read: @Sendable (Int) -> Int?
  let insert: @Sendable (Int, Int) -> Void
  let remove: @Sendable (Int) -> Int?
  let removeAll: @Sendable () -> Void
  let evict: @Sendable () -> Void
  let move: @Sendable () -> Void
  let refresh: (@Sendable (Int, (Int) -> Int) -> Void)?

  static let keys = 4
  /// Moves of the clock.
  static let lifetime = 3

  func record(round: Int, threads: Int, calls count: Int) -> LoadHistory {
    let all = Protected(LoadHistory())
    onThreads(threads) { thread in
      var random = SplitMix64(seed: UInt64(round * 100 + thread))
      var history = LoadHistory()
      history.lifetime = Self.lifetime
      var recorder = HistoryRecorder(thread: thread, capacity: count)
      for number in 0..<count {
        let key = random.below(Self.keys)
        let value = thread * 1_000_000 + number
        let spins = random.below(200)
        var loads: [LoadHistory.Load] = []
        let loader = { (key: Int) -> Int in
          let began = Clock.now
          for _ in 0..<spins { _ = Clock.now }
          loads.append(.init(key: key, value: value, began: began, ended: Clock.now))
          return value
        }
        let asked = Clock.now
        switch random.below(20) {
        case 0..<10:
          var isLost = false
          recorder.record(key) {
            let value = load(key, loader)
            isLost = value == nil
            return .read(value)
          }
          if isLost { history.unfinished += 1 }
          history.waits.append(recorder.calls.last!)
        case 10..<13: recorder.record(key) { .read(read(key)) }
        case 13..<15:
          recorder.record(key) {
            insert(key, value)
            return .write(value, replaced: nil)
          }
        case 15..<18: recorder.record(key) { .remove(remove(key)) }
        case 18:
          if random.below(2) == 0 {
            let began = Clock.now
            move()
            history.moves.append((began, Clock.now))
          } else {
            refresh == nil ? evict() : refresh!(key, loader)
          }
        default:
          let began = Clock.now
          removeAll()
          let ended = Clock.now
          for key in 0..<Self.keys {
            history.calls.append(
              Call(key: key, kind: .clear, thread: 100 + thread, began: began, ended: ended))
          }
        }
        for index in loads.indices { loads[index].call = (thread, asked, Clock.now) }
        history.loads += loads
      }
      history.calls += recorder.calls
      all.withLock { $0.add(history) }
    }
    return all.withLock { $0 }
  }
}
