// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Lets threads run one at a time, from stop to stop, in an order that is given.
///
/// A thread calls `stop` where others may go first. When all threads are stopped or done, the next
/// one is chosen among those that are ready.
public final class Turns: @unchecked Sendable {
  // Sendable: the mutex guards `turn`; all others are only touched by whoever has the turn.
  private static let master = -1

  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private let count: Int
  private var turn = master
  private var hasBegun = false
  private var isOpen: [Bool]
  private var isReady: [() -> Bool]

  public init(threads count: Int) {
    self.count = count
    isOpen = Array(repeating: true, count: count)
    isReady = Array(repeating: { true }, count: count)
    precondition(pthread_mutex_init(mutex, nil) == 0 && pthread_cond_init(changed, nil) == 0)
  }

  deinit {
    pthread_cond_destroy(changed)
    pthread_mutex_destroy(mutex)
    changed.deallocate()
    mutex.deallocate()
  }

  /// Called by thread `index`, which has the turn. Returns when it has it again.
  public func stop(_ index: Int, when ready: () -> Bool) {
    withoutActuallyEscaping(ready) { ready in
      isReady[index] = ready
      pass(to: Self.master)
      wait(for: index)
      isReady[index] = { true }
    }
  }

  /// Encloses what thread `index` does.
  public func run(_ index: Int, _ body: () -> Void) {
    wait(for: index)
    body()
    isOpen[index] = false
    pass(to: Self.master)
  }

  /// Plays all threads to their ends. `choose` gets the number of threads that could go next.
  /// Returns false if some wait for ever. A thread that could go on has to let others go first
  /// `preemptions` times at most.
  public func play(preemptions: Int = .max, _ choose: (Int) -> Int) -> Bool {
    var (last, left) = (0, preemptions)
    while true {
      let open = (0..<count).filter { isOpen[$0] }
      if open.isEmpty { return true }
      var able = open.filter { isReady[$0]() }
      if able.isEmpty { return false }
      let canGoOn = hasBegun && able.contains(last)
      if canGoOn && left == 0 { able = [last] }
      let next = able[choose(able.count)]
      if canGoOn && next != last { left -= 1 }
      (last, hasBegun) = (next, true)
      pass(to: next)
      wait(for: Self.master)
    }
  }

  private func pass(to index: Int) {
    pthread_mutex_lock(mutex)
    turn = index
    pthread_cond_broadcast(changed)
    pthread_mutex_unlock(mutex)
  }

  private func wait(for index: Int) {
    pthread_mutex_lock(mutex)
    while turn != index { pthread_cond_wait(changed, mutex) }
    pthread_mutex_unlock(mutex)
  }
}

/// All ways to choose, one after the other: each is the one before with its last choice changed.
public struct Choices {
  private var made: [(choice: Int, of: Int)] = []
  private var depth = 0

  public init() {}

  public mutating func choose(_ count: Int) -> Int {
    if depth == made.count { made.append((0, count)) }
    precondition(made[depth].of == count, "the same choices have led elsewhere")
    depth += 1
    return made[depth - 1].choice
  }

  /// Prepares the next way. False when there is none.
  public mutating func next() -> Bool {
    depth = 0
    while let last = made.popLast() {
      if last.choice + 1 < last.of {
        made.append((last.choice + 1, last.of))
        return true
      }
    }
    return false
  }
}
