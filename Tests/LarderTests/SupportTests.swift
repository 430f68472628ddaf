// SPDX-License-Identifier: Apache-2.0
import LarderTestSupport
import Testing

/// The checkers must be able to say no.
@Suite("The test support itself")
struct SupportTests {
  private func call(
    _ kind: Call.Kind, _ began: UInt64, _ ended: UInt64, thread: Int = 0
  ) -> Call {
    Call(key: 1, kind: kind, thread: thread, began: began, ended: ended)
  }

  private func isLegal(_ calls: [Call], _ mode: Linearizability.Mode = .strict) -> Bool {
    Linearizability.violation(in: calls, mode: mode) == nil
  }

  @Test("A read of an overwritten value has no legal order")
  func staleRead() {
    let write = [
      call(.write(1, replaced: false), 0, 1), call(.write(2, replaced: true), 2, 3),
    ]
    #expect(isLegal(write + [call(.read(2), 4, 5)]))
    #expect(!isLegal(write + [call(.read(1), 4, 5)]))
    #expect(!isLegal(write + [call(.read(1), 4, 5)], .evicting))
    #expect(isLegal(write + [call(.read(1), 2, 5, thread: 1)]))
  }

  @Test("An absent answer is legal only if entries can be evicted, and is final")
  func lostValue() {
    let calls = [call(.write(1, replaced: nil), 0, 1), call(.read(nil), 2, 3)]
    #expect(!isLegal(calls))
    #expect(isLegal(calls, .evicting))
    #expect(!isLegal(calls + [call(.read(1), 4, 5)], .evicting))
  }

  @Test("Two removals cannot both return the value, and no read sees the future")
  func doubledValue() {
    let write = call(.write(1, replaced: false), 0, 1)
    let first = call(.remove(1), 2, 9, thread: 1)
    #expect(isLegal([write, first, call(.remove(nil), 3, 8, thread: 2)]))
    #expect(!isLegal([write, first, call(.remove(1), 3, 8, thread: 2)]))
    #expect(!isLegal([call(.read(1), 0, 1), call(.write(1, replaced: false), 2, 3, thread: 1)]))
    #expect(!isLegal([write, call(.update(2, old: nil), 2, 3)]))
    #expect(!isLegal([write, call(.clear, 2, 3), call(.read(1), 4, 5)], .evicting))
  }

  @Test("All threads see concurrent writes in one order")
  func concurrentWritesHaveOneOrder() {
    let writes = [
      call(.write(1, replaced: nil), 0, 10), call(.write(2, replaced: nil), 0, 10, thread: 1),
    ]
    let reads = { (first: Int, second: Int, thread: Int) in
      [
        self.call(.read(first), 11, 12, thread: thread),
        self.call(.read(second), 13, 14, thread: thread),
      ]
    }
    #expect(isLegal(writes + reads(1, 1, 2) + reads(1, 1, 3)))
    #expect(!isLegal(writes + reads(1, 2, 2)))
    #expect(!isLegal(writes + reads(1, 1, 2) + reads(2, 2, 3)))
  }

  @Test("The tracker names the living values and counts their peak")
  func trackerNamesTheLiving() {
    let tracker = LifetimeTracker()
    var first: Tracked? = tracker.make(7)
    let second = tracker.make(8)
    #expect(first?.isIntact == true)
    first = nil
    #expect(tracker.liveIDs == [second.id])
    #expect(tracker.live == 1 && tracker.destroyed == 1 && tracker.peak == 2)
    #expect(tracker.faults.isEmpty)
  }

  @Test("All scripts occur, each once up to the names of keys")
  func allScriptsOccurOnce() {
    let alphabet: [Operation] = [.get(0), .get(1), .get(2), .removeAll]
    var seen: Set<[Operation]> = []
    forEveryScript(of: alphabet, length: 3) { #expect(seen.insert($0).inserted) }
    // Restricted growth: Σ over scripts with j named keys, C(3, j) · Bell(j) = 1 + 3 + 6 + 5.
    #expect(seen.count == 15)
  }

  @Test("A sample is a part, differs by seed, and is all where nothing is scaled down")
  func samples() {
    let all = Array(0..<95)
    #expect(Stress.sample(all, seed: 1, divisor: 1) == all)
    var seen: Set<Int> = []
    for seed in 0..<200 {
      let sample = Stress.sample(all, seed: seed, divisor: 10)
      #expect(sample.count == 9 && sample == sample.sorted() && Set(sample).count == 9)
      #expect(sample == Stress.sample(all, seed: seed, divisor: 10))
      seen.formUnion(sample)
    }
    #expect(seen.count == 95)
    #expect(Stress.sample([7], seed: 1, divisor: 10) == [7])
    #expect(Stress.sample([Int](), seed: 1, divisor: 10) == [])
  }
}
