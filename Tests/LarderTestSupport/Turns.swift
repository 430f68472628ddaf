// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Threads that run one at a time, from stop to stop, in an order that is given.
///
/// A thread calls `stop` where others may go first. It then chooses the next one among those that
/// are ready, itself included: threads are switched only where the order wants that. They serve
/// many plays, since to make a thread takes longer than most plays.
public final class Turns: @unchecked Sendable {
  // Sendable: the mutex guards `turn`; all others are only touched by whoever has the turn. That of
  // the player has the number `count`.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  /// One for each thread, so that nobody else wakes up.
  private let turns: UnsafeMutableBufferPointer<pthread_cond_t>
  private let count: Int
  private var turn: Int
  private var last: Int?
  private var left = Int.max
  private var choose: (Int) -> Int = { _ in 0 }
  /// What the threads do in this play. A thread without one ends.
  private var bodies: [() -> Void] = []
  private var isOpen: [Bool]
  private var isReady: [() -> Bool]

  public init(threads count: Int) {
    self.count = count
    turn = count
    isOpen = Array(repeating: true, count: count)
    isReady = Array(repeating: { true }, count: count)
    turns = .allocate(capacity: count + 1)
    precondition(pthread_mutex_init(mutex, nil) == 0)
    for index in turns.indices { precondition(pthread_cond_init(&turns[index], nil) == 0) }
    for index in 0..<count { RealThread { self.serve(index) }.detach() }
  }

  deinit {
    for index in turns.indices { pthread_cond_destroy(&turns[index]) }
    pthread_mutex_destroy(mutex)
    turns.deallocate()
    mutex.deallocate()
  }

  /// Called by thread `index`, which has the turn. Returns when it has it again.
  public func stop(_ index: Int, when ready: () -> Bool) {
    withoutActuallyEscaping(ready) { ready in
      isReady[index] = ready
      let next = next()
      if next != index {
        pass(to: next)
        wait(for: index)
      }
      isReady[index] = { true }
    }
  }

  /// Plays one body on each thread, to their ends. `choose` gets the number of threads that could
  /// go next. Returns false if some wait for ever, and then the threads are of no use any more. A
  /// thread that could go on has to let others go first `preemptions` times at most.
  public func play(
    _ bodies: [() -> Void], preemptions: Int = .max, _ choose: (Int) -> Int
  ) -> Bool {
    precondition(bodies.count == count)
    return withoutActuallyEscaping(choose) { choose in
      self.bodies = bodies
      self.choose = choose
      (last, left) = (nil, preemptions)
      isOpen = Array(repeating: true, count: count)
      pass(to: next())
      wait(for: count)
      self.bodies = []
      self.choose = { _ in 0 }
      return !isOpen.contains(true)
    }
  }

  /// Ends the threads. None of them waits in a body.
  public func end() {
    pass(to: 0)
    wait(for: count)
  }

  private func serve(_ index: Int) {
    while true {
      wait(for: index)
      guard index < bodies.count else { return pass(to: index + 1) }
      bodies[index]()
      isOpen[index] = false
      pass(to: next())
    }
  }

  /// Who goes next: the player when all have ended, or those left wait for ever.
  private func next() -> Int {
    var able = (0..<count).filter { isOpen[$0] && isReady[$0]() }
    if able.isEmpty { return count }
    let goesOn = last.flatMap { able.contains($0) ? $0 : nil }
    if let goesOn, left == 0 { able = [goesOn] }
    let next = able[choose(able.count)]
    if let goesOn, next != goesOn { left -= 1 }
    last = next
    return next
  }

  private func pass(to index: Int) {
    pthread_mutex_lock(mutex)
    turn = index
    pthread_cond_signal(&turns[index])
    pthread_mutex_unlock(mutex)
  }

  private func wait(for index: Int) {
    pthread_mutex_lock(mutex)
    while turn != index { pthread_cond_wait(&turns[index], mutex) }
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
