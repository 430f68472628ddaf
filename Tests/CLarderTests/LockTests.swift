// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport
import LarderTestSupport
import Synchronization
import Testing

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A lock, and two counters that only its holder may touch.
final class GuardedPair: @unchecked Sendable {
  // Sendable: `left` and `right` are guarded by `lock`, which is what the tests are about.
  let lock = lrdt_lock_create()
  private var left = 0
  private var right = 0

  deinit { lrdt_lock_destroy(lock) }

  var word: UInt32 { lrdt_lock_word(lock) }

  /// One critical section; the lock is held.
  func stepLocked() {
    precondition(left == right, "two holders at once")
    left += 1
    right += 1
  }

  func total() -> Int {
    lrd_lock_acquire(lock)
    defer { lrd_lock_release(lock) }
    return left
  }
}

@Suite("Locks", .timeLimit(.minutes(20)))
struct LockTests {
  enum Action: CaseIterable { case acquire, attempt, attemptOrMark, mark, release }

  @Test("Every short script of one thread agrees with a model of two bits")
  func everyScript() {
    var scripts = 0
    func extend(_ script: [Action]) {
      if script.count == 7 { return }
      for action in Action.allCases {
        scripts += 1
        if Self.run(script + [action]) { extend(script + [action]) }
      }
    }
    extend([])
    #expect(scripts > 5_000)
  }

  /// Runs a script against a model. False if its last step has no meaning.
  private static func run(_ script: [Action]) -> Bool {
    let pair = GuardedPair()
    var held = false
    var marked = false
    for action in script {
      switch action {
      case .acquire:
        if held { return false }
        lrd_lock_acquire(pair.lock)
        held = true
      case .attempt:
        #expect(lrd_lock_try(pair.lock) == !held, "\(script)")
        held = true
      case .attemptOrMark:
        #expect(lrd_lock_try_or_mark(pair.lock) == !held, "\(script)")
        marked = marked || held
        held = true
      case .mark:
        lrd_lock_mark(pair.lock)
        marked = true
      case .release:
        if !held { return false }
        #expect(lrd_lock_release(pair.lock) == marked, "\(script)")
        held = false
        marked = false
      }
      let expected = (held ? LRD_LOCKED : 0) | (marked ? LRD_MARKED : 0)
      // Only PARKED may be set in addition: a lock taken on the slow path assumes sleepers.
      #expect(pair.word & ~UInt32(LRD_PARKED) == UInt32(expected), "\(script)")
    }
    return true
  }

  @Test("There is one holder at a time, however the lock is taken", arguments: [2, 4, 8])
  func oneHolderAtATime(threads: Int) {
    let pair = GuardedPair()
    let each = Stress.scaled(200_000, atLeast: 5_000)
    let taken = Atomic<Int>(0)
    onThreads(threads) { thread in
      var mine = 0
      for number in 0..<each {
        switch (number + thread) % 4 {
        case 0: if !lrd_lock_try(pair.lock) { continue }
        case 1: if !lrd_lock_try_or_mark(pair.lock) { continue }
        default: lrd_lock_acquire(pair.lock)
        }
        pair.stepLocked()
        mine += 1
        lrd_lock_release(pair.lock)
      }
      taken.add(mine, ordering: .relaxed)
    }
    #expect(pair.total() == taken.load(ordering: .relaxed))
    #expect(pair.word == 0)
  }

  /// The holder numbers its critical sections, with an odd number while it is inside. A try that
  /// failed between two readings of the same odd number failed inside that section, so the release
  /// of that section must report it.
  @Test("A holder that releases the lock learns of every try that failed", arguments: [1, 2])
  func noRequestIsLost(markers: Int) {
    let sections = Stress.scaled(1_500_000, atLeast: 20_000)
    let pair = GuardedPair()
    let clock = Atomic<Int>(0)
    let failures = Protected<Set<Int>>([])
    let told = Protected<Set<Int>>([])
    let tolds = Atomic<Int>(0)
    let fails = Atomic<Int>(0)
    let meetings = Atomic<Int>(0)
    onThreads(markers + 1) { thread in
      var noted: Set<Int> = []
      if thread == 0 {
        var section = 0
        // Where processors are few, longer: until a try has met the holder.
        while section < sections
          || meetings.load(ordering: .relaxed) == 0 && section < 1_000 * sections
        {
          lrd_lock_acquire(pair.lock)
          clock.store(2 * section + 1, ordering: .sequentiallyConsistent)
          for _ in 0..<(section % 8) { lrd_pause() }
          clock.store(2 * section + 2, ordering: .sequentiallyConsistent)
          if lrd_lock_release(pair.lock) {
            noted.insert(2 * section + 1)
            tolds.add(1, ordering: .relaxed)
          }
          section += 1
        }
        clock.store(-1, ordering: .sequentiallyConsistent)
        return told.withLock { $0 = noted }
      }
      var before = 0
      while before >= 0 {
        before = clock.load(ordering: .sequentiallyConsistent)
        if lrd_lock_try_or_mark(pair.lock) {
          if lrd_lock_release(pair.lock) { tolds.add(1, ordering: .relaxed) }
          continue
        }
        fails.add(1, ordering: .relaxed)
        let after = clock.load(ordering: .sequentiallyConsistent)
        if before == after && before % 2 != 0 {
          noted.insert(before)
          meetings.add(1, ordering: .relaxed)
        }
      }
      failures.withLock { $0.formUnion(noted) }
    }
    let lost = failures.withLock { $0 }.subtracting(told.withLock { $0 }).subtracting([-1])
    #expect(lost.isEmpty, "\(lost.count) requests were lost")
    #expect(tolds.load(ordering: .relaxed) <= fails.load(ordering: .relaxed))
    #expect(!failures.withLock { $0 }.isEmpty, "no try met the holder")
    #expect(pair.word == 0)
  }

  @Test("Sleepers are all woken, one after the other, with and without marks", arguments: 1...4)
  func sleepersWake(sleepers: Int) {
    for round in 0..<Stress.scaled(300, atLeast: 20) {
      let pair = GuardedPair()
      let inside = Atomic<Int>(0)
      lrd_lock_acquire(pair.lock)
      for _ in 0..<sleepers {
        let thread = RealThread {
          lrd_lock_acquire(pair.lock)
          pair.stepLocked()
          if round % 3 == 0 { usleep(20) }  // Lets others go to sleep meanwhile.
          lrd_lock_release(pair.lock)
          inside.add(1, ordering: .releasing)
        }
        thread.detach()
      }
      waitUntil("a thread sleeps") { pair.word & UInt32(LRD_PARKED) != 0 }
      if round % 2 == 0 { usleep(UInt32(round % 7) * 30) }
      if round % 4 == 1 { #expect(!lrd_lock_try_or_mark(pair.lock)) }
      let marked = lrd_lock_release(pair.lock)
      #expect(marked == (round % 4 == 1))
      waitUntil("every sleeper has had the lock") { inside.load(ordering: .acquiring) == sleepers }
      #expect(pair.total() == sleepers)
      #expect(pair.word == 0)
    }
  }
}
