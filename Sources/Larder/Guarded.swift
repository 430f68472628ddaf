// SPDX-License-Identifier: Apache-2.0
import CLarder

/// State under a lock of the core's kind, for what Swift keeps beside the core.
///
/// The lock is a leaf. It is held for O(1) steps on average, with two exceptions: a walk over a
/// whole stripe of second chances (`forgetAll()`, `removeDead()`), and a list of a group's keys
/// (`keys(in:)`). The only user code that runs under it is `==` and `hash(into:)` of a key or a
/// group, and these must not use any cache. No object of theirs may be destroyed under the lock, so
/// a body returns what it takes out.
///
/// `fork()` takes this lock together with the core's, so that the child finds the state whole.
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

  @inline(__always)
  package func withLock<Result>(_ body: (inout State) -> Result) -> Result {
    lrd_side_lock_acquire(lock)
    defer { lrd_side_lock_release(lock) }
    return body(&state)
  }
}
