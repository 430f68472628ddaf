// SPDX-License-Identifier: Apache-2.0
import CLarder

/// How a load ends, for one of its callers.
enum Landing<Value: Sendable>: Sendable {
  case loaded(Value)
  case failed(any Error)
  /// The caller was cancelled.
  case left
  /// The load was given up for a reason that is not this caller's. Ask again.
  case again
}

/// Somebody who waits for a flight: a thread or a task. The stripe's lock guards it until it is
/// woken.
class AnyWaiter: @unchecked Sendable {
  // Sendable: written under the lock, read by the waiter after it was woken.
  /// Who came before and after it. The queue keeps both alive.
  fileprivate unowned(unsafe) var previous: AnyWaiter?
  fileprivate var next: AnyWaiter?
  /// Whether it has begun the flight.
  var isFirst = false
  /// Whether it still waits.
  fileprivate(set) var isWaiting = true
  fileprivate let signal: UnsafeMutablePointer<lrd_signal>?

  fileprivate init(isThread: Bool) {
    signal = isThread ? .allocate(capacity: 1) : nil
    signal?.initialize(to: lrd_signal())
  }

  deinit { signal?.deallocate() }

  /// Whether a thread that goes to sleep would wake at once.
  var isAwake: Bool { lrd_signal_is_given(signal!) }

  /// Wakes whoever waits. A task that does not sleep yet finds the landing when it would.
  func wake() {}
}

final class Waiter<Value: Sendable>: AnyWaiter, @unchecked Sendable {
  // Sendable: as above.
  private var landing: Landing<Value>?
  private var continuation: UnsafeContinuation<Landing<Value>, Never>?

  override init(isThread: Bool) { super.init(isThread: isThread) }

  /// Ends the wait. The stripe's lock is held; `wake()` follows without it.
  func end(_ landing: Landing<Value>) {
    self.landing = landing
    isWaiting = false
  }

  override func wake() {
    if let signal { return lrd_signal_give(signal) }
    if let continuation, let landing {
      continuation.resume(returning: landing)
    }
  }

  /// Puts the thread to sleep until the flight lands.
  func sleep() -> Landing<Value> {
    lrd_signal_wait(signal!)
    return landing!
  }

  /// Puts a task to sleep. The stripe's lock is held. Returns how the flight has landed if it
  /// already has; then the caller resumes the continuation.
  func sleep(_ continuation: UnsafeContinuation<Landing<Value>, Never>) -> Landing<Value>? {
    if let landing { return landing }
    self.continuation = continuation
    return nil
  }
}

/// The waiters of a flight, in the order in which they came.
///
/// Each holds the next one. `popFirst()` parts them one by one, so that the end of many is no deep
/// recursion.
struct WaiterQueue {
  private(set) var first: AnyWaiter?
  private var last: AnyWaiter?

  var isEmpty: Bool { first == nil }

  mutating func append(_ waiter: AnyWaiter) {
    waiter.previous = last
    if let last { last.next = waiter } else { first = waiter }
    last = waiter
  }

  /// Takes out a waiter that is in. The caller holds it, so that it does not die here.
  mutating func remove(_ waiter: AnyWaiter) {
    let (previous, next) = (waiter.previous, waiter.next)
    if let previous { previous.next = next } else { first = next }
    if let next { next.previous = previous } else { last = previous }
    (waiter.previous, waiter.next) = (nil, nil)
  }

  mutating func popFirst() -> AnyWaiter? {
    let waiter = first
    if let waiter { remove(waiter) }
    return waiter
  }

  var count: Int {
    var count = 0
    var waiter = first
    while let one = waiter { (count, waiter) = (count + 1, one.next) }
    return count
  }
}
