// SPDX-License-Identifier: Apache-2.0

/// What the loads of one ``LoadingCache`` share. Those of a plain cache share nothing.
final class LoadSettings: Sendable {
  static let plain = LoadSettings(LoadingOptions(), for: Place(file: #fileID, line: #line))

  let options: LoadingOptions
  let limiter: LoadLimiter?

  init(_ options: LoadingOptions, for place: Place) {
    options.check(for: place)
    self.options = options
    limiter = options.loadLimit > 0 ? LoadLimiter(options.loadLimit) : nil
  }

  var goesOn: Bool { options.continuesWithoutCallers }
}

/// Lets a number of loads run at once. Others wait their turn, first come first served; a load that
/// is cancelled keeps its place, and sees the cancellation when it runs.
final class LoadLimiter: Sendable {
  private struct State {
    var free: Int
    /// Those who wait, oldest first, from `first` on.
    var waiting: [UnsafeContinuation<Void, Never>?] = []
    var first = 0
  }

  private let state: Guarded<State>

  init(_ limit: Int) { state = Guarded(State(free: limit)) }

  func enter() async {
    await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
      let isFree = state.withLock { state in
        if state.free > 0 {
          state.free -= 1
          return true
        }
        state.waiting.append(continuation)
        return false
      }
      if isFree { continuation.resume() }
    }
  }

  func leave() {
    let next = state.withLock { state -> UnsafeContinuation<Void, Never>? in
      guard state.first < state.waiting.count else {
        state.free += 1
        return nil
      }
      defer {
        state.first += 1
        if state.first * 2 > state.waiting.count {
          state.waiting.removeFirst(state.first)
          state.first = 0
        }
      }
      return state.waiting[state.first].take()
    }
    next?.resume()
  }
}
