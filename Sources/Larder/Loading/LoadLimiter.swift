// SPDX-License-Identifier: Apache-2.0

/// Lets a number of loads run at once. Others wait their turn, first come first served. A load
/// whose task is cancelled, because nobody waits for it any more, leaves the queue without a turn.
///
/// A load that another load waits for runs at once, above the number: the other one may have the
/// turn that it waits for. `LoadNode.isNeeded` says so. It is set before the lock is taken to look
/// whether the load waits, and read under the lock before the load begins to wait. A load knows its
/// place in the queue, so nobody searches for it, however many wait.
/// Cancellation is seen in the same way: a task is marked before its handler takes the lock.
final class LoadLimiter: Sendable {
  fileprivate typealias Continuation = UnsafeContinuation<Bool, Never>

  /// The place in the queue of loads that wait together. Their task holds it until it is resumed,
  /// so that none dies under the lock.
  final class Waiting: @unchecked Sendable {
    // Sendable: the limiter's lock guards what changes.
    /// Told whether there is a turn to give back. `nil` out of the queue.
    fileprivate var continuation: Continuation?
    fileprivate unowned(unsafe) var previous: Waiting?
    fileprivate var next: Waiting?
  }

  private struct State {
    var free: Int
    /// Those who wait, oldest first.
    var first: Waiting?
    var last: Waiting?

    mutating func append(_ waiting: Waiting, _ continuation: Continuation) {
      waiting.continuation = continuation
      waiting.previous = last
      if let last { last.next = waiting } else { first = waiting }
      last = waiting
    }

    /// Takes loads out of the queue; `nil` if they are not in.
    mutating func remove(_ waiting: Waiting) -> Continuation? {
      guard let continuation = waiting.continuation.take() else { return nil }
      let (previous, next) = (waiting.previous, waiting.next)
      if let previous { previous.next = next } else { first = next }
      if let next { next.previous = previous } else { last = previous }
      (waiting.previous, waiting.next) = (nil, nil)
      return continuation
    }
  }

  private let state: Guarded<State>

  init(_ limit: Int) { state = Guarded(State(free: limit)) }

  /// Waits for a turn to run one loader for these loads. Returns whether there is one to give back.
  /// A task that is cancelled waits no longer, and is to run no loader, with a turn or without.
  func enter(for loads: [AnyFlight]) async -> Bool {
    LoadPoints.reach()
    let waiting = Waiting()
    let mayGiveBack = await withTaskCancellationHandler {
      await withUnsafeContinuation { (continuation: Continuation) in
        let hasTurn = state.withLock { state -> Bool? in
          if Task.isCancelled || loads.contains(where: \.isNeeded) { return false }
          if state.free > 0 {
            state.free -= 1
            return true
          }
          for load in loads { load.waiting = waiting }
          state.append(waiting, continuation)
          return nil
        }
        if let hasTurn { continuation.resume(returning: hasTurn) }
      }
    } onCancel: {
      state.withLock { $0.remove(waiting) }?.resume(returning: false)
    }
    LoadPoints.reach()
    return mayGiveBack
  }

  /// Gives a turn back.
  func leave() {
    let next = state.withLock { state -> Continuation? in
      guard let first = state.first else {
        state.free += 1
        return nil
      }
      return state.remove(first)
    }
    next?.resume(returning: true)
  }

  /// Lets a load that is needed by now run, and those that wait with it, if they do. O(1).
  func admit(_ load: AnyFlight) {
    let needed = state.withLock { state in load.waiting.flatMap { state.remove($0) } }
    needed?.resume(returning: false)
  }
}
