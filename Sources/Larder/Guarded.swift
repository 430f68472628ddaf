// SPDX-License-Identifier: Apache-2.0
import CLarder

/// State under a lock of the core's kind, for what powers keep beside the core.
///
/// The lock is a leaf. It is held for O(1) steps on average; the only code of users that runs under
/// it is a key's, or a group's, `==` and `hash(into:)`, which must not use any cache. Nothing of
/// theirs may be destroyed under it: a body returns what it takes out.
///
/// Unlike the core's locks it is not taken around `fork()`: a child that goes on to use a cache
/// with groups or second chances may wait for a thread that it does not have.
final class Guarded<State>: @unchecked Sendable {
  // Sendable: `state` is only touched under the lock.
  private let lock = UnsafeMutablePointer<lrd_lock>.allocate(capacity: 1)
  private var state: State

  init(_ state: State) {
    self.state = state
    lock.initialize(to: lrd_lock())
  }

  deinit { lock.deallocate() }

  func withLock<Result>(_ body: (inout State) -> Result) -> Result {
    lrd_lock_acquire(lock)
    defer { _ = lrd_lock_release(lock) }
    return body(&state)
  }
}
