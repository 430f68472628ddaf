// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport
import Larder
import LarderTestSupport
import Testing

/// A fence serves everything that was unlinked before it began, whoever runs it.
@Suite("Grace periods")
struct GraceTests {
  /// Calls `body` with every order of `steps` in which each fence ends after it began.
  private func forEachOrder(
    of steps: [lrdt_grace_step], then done: [lrdt_grace_step] = [],
    _ body: ([lrdt_grace_step]) -> Void
  ) {
    if steps.isEmpty { return body(done) }
    for (index, step) in steps.enumerated() {
      let mayGo =
        step.act != LRDT_END || done.contains { $0.act == LRDT_BEGIN && $0.who == step.who }
      guard mayGo else { continue }
      var left = steps
      left.remove(at: index)
      forEachOrder(of: left, then: done + [step], body)
    }
  }

  /// A fence that began after the ticket has ended.
  private func isProven(_ steps: ArraySlice<lrdt_grace_step>) -> Bool {
    let drawn = steps.firstIndex { $0.act == LRDT_DRAW }!
    let later = steps[drawn...].filter { $0.act == LRDT_BEGIN }.map(\.who)
    return steps.contains { $0.act == LRDT_END && later.contains($0.who) }
  }

  @Test(
    "In every order of three fences, a ticket passes when a later fence has ended, not before"
  )
  func everyOrder() {
    let fences = (0..<3).flatMap {
      [lrdt_grace_step(act: LRDT_BEGIN, who: $0), lrdt_grace_step(act: LRDT_END, who: $0)]
    }
    var orders = 0
    var passed = 0
    forEachOrder(of: fences + [lrdt_grace_step(act: LRDT_DRAW, who: 0)]) { steps in
      orders += 1
      let drawn = steps.firstIndex { $0.act == LRDT_DRAW }!
      for end in (drawn + 1)...steps.count {
        let expected = isProven(steps[..<end])
        if expected { passed += 1 }
        #expect(lrdt_grace_passes(steps, UInt32(end)) == expected, "\(steps[..<end])")
      }
    }
    #expect(orders == 630 && passed > 0)
  }

  @Test("In the process's own grace periods a ticket passes with the next fence")
  func ownFence() async {
    await #expect(processExitsWith: .success) {
      // In a process of its own, no other test's fence comes between.
      let ticket = lrdt_grace_draw()
      precondition(!lrdt_grace_has_passed(ticket))
      lrdt_grace_run()
      precondition(lrdt_grace_has_passed(ticket) && !lrdt_grace_has_passed(lrdt_grace_draw()))
    }
  }

  @Test(
    "An entry that waits for a fence in one cache is released after another cache ran the fence")
  func sharedFence() async {
    await #expect(processExitsWith: .success) {
      let tracker = LifetimeTracker()
      let first = Cache<Int, Tracked>(countLimit: 100, shards: 1)
      let second = Cache<Int, Tracked>(countLimit: 100, shards: 1)
      // While another thread is registered, nothing is released at once.
      let sleeper = Sleeper { _ = first.value(forKey: 0) }
      // A quarter of 256 waits for a fence, and some more are fresh.
      for key in 0..<100 { second[key] = tracker.make(key) }
      for key in 0..<100 { second[key] = tracker.make(key + 100) }
      let ticket = lrdt_grace_draw()
      // Writers run a fence at 192, unless the background thread is quicker.
      for key in 0..<400 { first[key % 100] = tracker.make(key) }
      waitUntil("a fence has run") { lrdt_grace_has_passed(ticket) }
      for key in 0..<100 { second[key] = tracker.make(key + 200) }
      precondition(second.retiredCount <= 256, "\(second.retiredCount) wait")
      sleeper.join()
      waitUntil("all but what is stored is released") {
        first.reclaim()
        second.reclaim()
        return tracker.live == 200
      }
      precondition(tracker.faults.isEmpty)
    }
  }

  @Test("An insertion runs a fence or a scan, not both")
  func fenceApart() async {
    await #expect(processExitsWith: .success) {
      let cache = Cache<Int, Int>(countLimit: 100, policy: .fifo, shards: 1)
      let shard = lrd_cache_shard_at(cache.inside, 0)
      let sleeper = Sleeper { _ = cache.value(forKey: 0) }
      var (fences, scans, both) = (0, 0, 0)
      let insertions = 20_000
      for key in 0..<insertions {
        let (ticket, scanned) = (lrdt_grace_draw(), lrdt_shard_scanned(shard))
        cache[key] = key
        // The background thread's work meanwhile is counted as the insertion's own; that is rare.
        let hasFenced = lrdt_grace_draw() > ticket
        let hasScanned = lrdt_shard_scanned(shard) > scanned + 16
        if hasFenced { fences += 1 }
        if hasScanned { scans += 1 }
        if hasFenced && hasScanned { both += 1 }
      }
      sleeper.join()
      // One for each 96 of the 256 that may wait, or fewer if the background thread helps.
      precondition(fences > insertions / 1_000 && scans > insertions / 1_000)
      precondition(both * 2 < fences, "\(both) of \(fences) fences came with a scan")
    }
  }
}
