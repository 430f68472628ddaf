// SPDX-License-Identifier: Apache-2.0
import CLarder
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// How a load ends, for one of its callers.
enum Landing<Value: Sendable>: Sendable {
  case loaded(Value)
  case failed(any Error)
  /// The caller was cancelled.
  case left
  /// The load was given up for a reason that is not this caller's. Ask again.
  case again
}

/// One load of one key: what a loader is at work for, and who waits for it.
///
/// FIELDS
///   `key`, `hash`, `process`, `replaces`, `isAsync`, `goesOn`   constant
///   `outdated`   see `Flights`
///   all others   the lock of the flight's stripe
final class Flight<Key: Hashable & Sendable, Value: Sendable>: LoadNode, @unchecked Sendable {
  // Sendable: as listed above.
  let key: Key
  let hash: UInt64
  /// The process that began the flight. In the child of `fork()` nobody flies it.
  let process = getpid()
  /// Whether the value may replace an earlier one, as that of a refresh does.
  let replaces: Bool
  /// Whether a task runs the loader, which can be cancelled and hurried. Otherwise the thread of
  /// the first caller does.
  let isAsync: Bool
  /// Whether the load goes on when all callers have left.
  let goesOn: Bool
  private let outdated = Atomic(false)

  /// The next flight of the same hash.
  var next: Flight?
  var waiters: [Waiter<Value>] = []
  /// Callers that have not left.
  var callers = 0
  var task: Task<Void, Never>?
  /// Where the load waits for its turn, or may come to.
  var limiter: LoadLimiter?
  var priority: TaskPriority?
  var isAbandoned = false
  /// Set when the load has failed and the failure is remembered.
  var failure: RememberedFailure?
  /// How often in a row the key's loads have failed, this one included when it has.
  var failures = 0

  init(_ key: Key, _ hash: UInt64, isAsync: Bool, goesOn: Bool, replaces: Bool = false) {
    self.key = key
    self.hash = hash
    self.replaces = replaces
    self.isAsync = isAsync
    self.goesOn = goesOn
  }

  override var nodeKey: (any Hashable & Sendable)? { key }

  /// Whether the value may be stored. See `Flights`.
  var isCurrent: Bool { !outdated.load(ordering: .relaxed) }

  func outdate() { outdated.store(true, ordering: .relaxed) }
}

/// Somebody who waits for a flight: a thread or a task. The stripe's lock guards it until it is
/// woken.
final class Waiter<Value: Sendable>: @unchecked Sendable {
  // Sendable: written under the lock, read by the waiter after it was woken.
  private var landing: Landing<Value>?
  private var continuation: UnsafeContinuation<Landing<Value>, Never>?
  private let signal: UnsafeMutablePointer<lrd_signal>?

  init(isThread: Bool) {
    signal = isThread ? .allocate(capacity: 1) : nil
    signal?.initialize(to: lrd_signal())
  }

  deinit { signal?.deallocate() }

  /// Whether it still waits.
  var isWaiting: Bool { landing == nil }

  /// Whether a thread that goes to sleep would wake at once.
  var isAwake: Bool { lrd_signal_is_given(signal!) }

  /// Ends the wait. The stripe's lock is held; `wake()` follows without it.
  func end(_ landing: Landing<Value>) { self.landing = landing }

  /// Wakes whoever waits. A task that does not sleep yet finds the landing when it would.
  func wake() {
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
