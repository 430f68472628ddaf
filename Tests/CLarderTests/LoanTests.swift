// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport
import Larder
import LarderTestSupport
import Testing

/// What a loan holds up, and what it does not.
@Suite("Loans", .timeLimit(.minutes(20)))
struct LoanTests {
  @Test("A loan keeps exactly its entry", arguments: [1, 4], [1, 32])
  func loanKeepsItsEntry(shards: Int, loans: Int) async {
    await #expect(processExitsWith: .success) { [shards = shards as Int, loans = loans as Int] in
      let tracker = LifetimeTracker()
      let cache = Cache<Int, Tracked>(shards: shards)
      for key in 0..<100 { cache[key] = tracker.make(key) }
      let stage = Protected(0)
      @Sendable func borrow(_ key: Int) {
        if key < loans {
          cache.withValue(forKey: key) {
            borrow(key + 1)
            precondition($0.isIntact && $0.payload == key, "a lent value died")
          }
        } else {
          stage.withLock { $0 = 1 }
          waitUntil("the loans are called in") { stage.withLock { $0 == 2 } }
        }
      }
      let thread = RealThread {
        borrow(0)
      }
      waitUntil("the loans are out") { stage.withLock { $0 == 1 } }
      for round in 0..<20 {
        for key in 0..<100 { cache[key] = tracker.make(key) }
        cache.reclaim()
        // An entry that the background thread is looking at counts as nobody's for a moment.
        waitUntil("all but the lent are destroyed in round \(round)") {
          cache.reclaim()
          return tracker.live == 100 + loans && cache.retiredCount == loans
        }
        precondition((0..<loans).allSatisfy { tracker.isLive($0) }, "a lent value died")
        cache.checkInvariants()
      }
      stage.withLock { $0 = 2 }
      thread.join()
      waitUntil("nothing is retired") {
        cache.reclaim()
        return cache.retiredCount == 0
      }
      waitUntil("lent values die once they are back") { tracker.live == 100 }
      precondition(tracker.faults.isEmpty)
    }
  }

  @Test("Every value is lent, also where another entry has the same tag")
  func everyValueIsLent() {
    let cache = Cache<Int, Int>(shards: 1)
    for key in 0..<5_000 { cache[key] = key }
    let lane = lrd_lane_attach(cache.inside)!
    var lent = 0
    for key in 0..<5_000 {
      cache.withValue(forKey: key) {
        if $0 == key && lrd_loans_left(lane) == Int(LRD_LOANS) - 1 { lent += 1 }
      }
    }
    #expect(lent == 5_000)
  }

  /// The lent entry leaves last, so that it waits among entries that are destroyed later and that
  /// nobody has looked at yet. After that nothing is written.
  @Test("A lent value dies soon after the loan, even if nobody writes", arguments: [1, 4])
  func lentValueDiesWithoutWrites(shards: Int) async {
    await #expect(processExitsWith: .success) { [shards = shards as Int] in
      let tracker = LifetimeTracker()
      let cache = Cache<Int, Tracked>(policy: .lru, shards: shards)
      for key in 0..<200 * shards { cache[key] = tracker.make(key) }
      let stage = Protected(0)
      let thread = RealThread {
        _ = cache.value(forKey: 0)
        cache.withValue(forKey: 0) { value in
          stage.withLock { $0 = 1 }
          waitUntil("the loan is called in") { stage.withLock { $0 == 2 } }
          precondition(value.isIntact && value.payload == 0, "a lent value died")
        }
      }
      waitUntil("the loan is out") { stage.withLock { $0 == 1 } }
      cache.removeAll()
      waitUntil("all but the lent are destroyed") { tracker.live == 1 }
      precondition(tracker.isLive(0))
      stage.withLock { $0 = 2 }
      thread.join()
      waitUntil("the lent value dies") { tracker.live == 0 }
      precondition(tracker.faults.isEmpty)
    }
  }

  @Test("A costly entry on loan does not make removals run fences")
  func costlyLoan() async {
    await #expect(processExitsWith: .success) {
      // A limbo with more than 50,000 of cost is scanned.
      let cache = Cache<Int, Int>(totalCostLimit: 1_600_000, shards: 1)
      cache.insert(0, forKey: 0, cost: 90_000)
      let stage = Protected(0)
      let reader = RealThread {
        _ = cache.value(forKey: 0)
        cache.withValue(forKey: 0) { _ in
          stage.withLock { $0 = 1 }
          waitUntil(deadline: 300, "the loan is called in") { stage.withLock { $0 == 2 } }
        }
      }
      waitUntil("the loan is out") { stage.withLock { $0 == 1 } }
      cache[0] = nil
      let removals = 40_000
      let before = lrdt_grace_draw()
      for key in 0..<removals {
        cache.insert(0, forKey: key, cost: 1)
        cache[key] = nil
      }
      // Every hundredth removal has reason to. The background thread adds at most one a
      // millisecond.
      let fences = lrdt_grace_draw() - before
      precondition(fences < removals / 8, "\(fences) fences")
      stage.withLock { $0 = 2 }
      reader.join()
    }
  }
}
