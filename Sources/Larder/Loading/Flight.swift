// SPDX-License-Identifier: Apache-2.0
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// One load of one key: what a loader is at work for, and who waits for it.
///
/// This much is the same for all keys and values. The code of loads is not specialised for these,
/// and there it takes the runtime a thousand instructions to find a generic type.
///
/// FIELDS
///   `hash`, `process`, `replaces`, `isAsync`, `goesOn`   constant
///   `failuresBefore`   constant once the flight is in the table
///   `outdated`   see `Flights`
///   `hasBegun`   the lock of the key's shard
///   `waiting`    the lock of the limiter
///   all others   the lock of the flight's stripe
class AnyFlight: LoadNode, @unchecked Sendable {
  // Sendable: as listed above.
  let hash: UInt64
  /// The process that began the flight. In the child of `fork()` nobody flies it, but maybe the
  /// thread that has forked.
  let process = getpid()
  /// Whether the value may replace an earlier one, as that of a refresh does.
  let replaces: Bool
  /// Whether a task runs the loader, which can be cancelled and hurried. Otherwise the thread of
  /// the first caller does.
  let isAsync: Bool
  /// Whether the load goes on when all callers have left.
  let goesOn: Bool
  private let outdated = Atomic(false)
  /// Whether the shard counts it.
  var hasBegun = false

  /// The next flight of the same hash.
  var next: AnyFlight?
  /// Callers that have not left, save a thread that runs the loader.
  var waiters = WaiterQueue()
  var task: Task<Void, Never>?
  /// Where the load waits for its turn, or may come to.
  var limiter: LoadLimiter?
  /// Its place there, from when it begins to wait.
  var waiting: LoadLimiter.Waiting?
  var priority: TaskPriority?
  var isAbandoned = false
  /// Set when the load has failed and the failure is remembered.
  var failure: RememberedFailure?
  /// How often in a row the key's loads had failed before this one.
  var failuresBefore = 0
  /// Whether the statistics count it as outdated.
  var countsAsOutdated = false
  /// Set when its storing is decided and nothing had outdated it: what does so later comes too
  /// late.
  var isDecided = false

  fileprivate init(
    _ hash: UInt64, isAsync: Bool, goesOn: Bool, replaces: Bool
  ) {
    self.hash = hash
    self.replaces = replaces
    self.isAsync = isAsync
    self.goesOn = goesOn
  }

  // A flight that nobody flies still has the waiters of the other process.
  deinit { while waiters.popFirst() != nil {} }

  /// How often in a row the key's loads have failed by now.
  var failures: Int { failure?.failures ?? failuresBefore }

  /// Whether nobody in this process flies it.
  var isForeign: Bool { process != getpid() }

  /// Whether the value may be stored. See `Flights`.
  var isCurrent: Bool { !outdated.load(ordering: .relaxed) }

  func outdate() { outdated.store(true, ordering: .relaxed) }
}

final class Flight<Key: Hashable & Sendable, Value: Sendable>: AnyFlight, @unchecked Sendable {
  // Sendable: as above.
  let key: Key

  init(_ key: Key, _ hash: UInt64, isAsync: Bool, goesOn: Bool, replaces: Bool = false) {
    self.key = key
    super.init(hash, isAsync: isAsync, goesOn: goesOn, replaces: replaces)
  }

  override var nodeKey: (any Hashable & Sendable)? { key }
}
