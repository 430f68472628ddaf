// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

/// A lock and the state it protects. The hand-written rivals are generic over it, because neither
/// lock is better everywhere. `Mutex` is faster on one thread, and on Linux it collapses when more
/// threads want it than there are cores.
protocol Guard<State>: ~Copyable, Sendable {
  associatedtype State
  init(_ state: sending State)
  borrowing func withLock<Result>(_ body: (inout State) -> Result) -> Result
}

/// `Synchronization.Mutex`, stored inline in whatever holds it.
struct MutexGuard<State>: ~Copyable, Guard {
  /// Keys and values of rivals are Sendable. Lists of nodes are not, and never leave the lock.
  private struct Protected: @unchecked Sendable { var state: State }
  private struct Carried<Result>: @unchecked Sendable { let result: Result }

  private let mutex: Mutex<Protected>

  init(_ state: sending State) { mutex = Mutex(Protected(state: state)) }

  @inline(__always)
  borrowing func withLock<Result>(_ body: (inout State) -> Result) -> Result {
    mutex.withLock { Carried(result: body(&$0.state)) }.result
  }
}

/// Foundation's `NSLock` beside its state. A pointer leads to the state, which avoids the
/// exclusivity checks that properties of a class would have.
struct NSLockGuard<State>: ~Copyable, Guard, @unchecked Sendable {
  private let lock = NSLock()
  private let state: UnsafeMutablePointer<State>

  init(_ state: sending State) {
    self.state = .allocate(capacity: 1)
    self.state.initialize(to: state)
  }

  deinit {
    state.deinitialize(count: 1)
    state.deallocate()
  }

  @inline(__always)
  borrowing func withLock<Result>(_ body: (inout State) -> Result) -> Result {
    lock.lock()
    defer { lock.unlock() }
    return body(&state.pointee)
  }
}
