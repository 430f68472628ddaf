// SPDX-License-Identifier: Apache-2.0
import CLarder

/// State under a lock of the core's kind, for what is kept beside the core.
///
/// The lock is a leaf. It is held for O(1) steps on average, except where a whole stripe of second
/// chances is gone through (`forgetAll()`, `removeDead()`) or the keys of a group are listed
/// (`keys(in:)`). The only code of users that runs under it is a key's, or a group's, `==` and
/// `hash(into:)`, which must not use any cache. Nothing of theirs may be destroyed under it: a body
/// returns what it takes out.
///
/// `fork()` takes it, as it takes the core's locks, so that the child finds the state whole.
package final class Guarded<State>: @unchecked Sendable {
  // Sendable: `state` is only touched under the lock.
  private let lock = UnsafeMutablePointer<lrd_side_lock>.allocate(capacity: 1)
  private var state: State

  package init(_ state: State) {
    self.state = state
    lock.initialize(to: lrd_side_lock())
    lrd_side_lock_add(lock)
  }

  deinit {
    lrd_side_lock_remove(lock)
    lock.deallocate()
  }

  package func withLock<Result>(_ body: (inout State) -> Result) -> Result {
    lrd_side_lock_acquire(lock)
    defer { lrd_side_lock_release(lock) }
    return body(&state)
  }
}
