// SPDX-License-Identifier: Apache-2.0

/// Lets a number of loads run at once. Others wait their turn, first come first served. A load that
/// is cancelled keeps its place, and gives its turn back at once.
///
/// A load that another load waits for runs at once, above the number: the other one may have the
/// turn that it waits for. `LoadNode.isNeeded` says so. It is set before the lock is taken to look
/// for the load among those who wait, and read under the lock before the load begins to wait.
final class LoadLimiter: Sendable {
  private struct Waiting {
    let loads: [LoadNode]
    /// Told whether there is a turn to give back.
    let continuation: UnsafeContinuation<Bool, Never>
  }

  private struct State {
    var free: Int
    /// Those who wait, oldest first, from `first` on, and holes.
    var waiting: [Waiting?] = []
    var first = 0
  }

  private let state: Guarded<State>

  init(_ limit: Int) { state = Guarded(State(free: limit)) }

  /// Waits for a turn to run one loader for these loads. Returns whether there is one to give back.
  func enter(for loads: [LoadNode]) async -> Bool {
    await withUnsafeContinuation { (continuation: UnsafeContinuation<Bool, Never>) in
      let waiting = Waiting(loads: loads, continuation: continuation)
      let hasTurn = state.withLock { state -> Bool? in
        if loads.contains(where: \.isNeeded) { return false }
        if state.free > 0 {
          state.free -= 1
          return true
        }
        state.waiting.append(waiting)
        return nil
      }
      if let hasTurn { continuation.resume(returning: hasTurn) }
    }
  }

  /// Gives a turn back.
  func leave() {
    let next = state.withLock { state -> Waiting? in
      var next: Waiting?
      while next == nil && state.first < state.waiting.count {
        next = state.waiting[state.first].take()
        state.first += 1
      }
      if state.first * 2 > state.waiting.count {
        state.waiting.removeFirst(state.first)
        state.first = 0
      }
      if next == nil { state.free += 1 }
      return next
    }
    next?.continuation.resume(returning: true)
  }

  /// Lets those run who are needed by now.
  func admitNeeded() {
    let needed = state.withLock { state in
      (state.first..<state.waiting.count).compactMap { index -> Waiting? in
        let isNeeded = state.waiting[index]?.loads.contains(where: \.isNeeded) ?? false
        return isNeeded ? state.waiting[index].take() : nil
      }
    }
    for waiting in needed { waiting.continuation.resume(returning: false) }
  }
}
