// SPDX-License-Identifier: Apache-2.0
public import Larder
import Synchronization

/// The blocking form of a load, which asynchronous functions cannot name.
public func blocking<Key, Value, Failure>(
  _ cache: Cache<Key, Value>, _ key: Key, _ load: (Key) throws(Failure) -> Value
) throws -> Value {
  try cache.value(forKey: key, load: load)
}

/// Runs blocking code on a thread of its own, so that it holds up no thread of the tasks.
public func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
  await withCheckedContinuation { done in
    RealThread { done.resume(returning: body()) }.detach()
  }
}

/// Off at first, then on for ever.
public final class Switch: Sendable {
  private let on = Atomic(false)

  public init() {}
  public var isOn: Bool { on.load(ordering: .acquiring) }
  public func turnOn() { on.store(true, ordering: .releasing) }
}

/// Counts up, from any thread.
public final class Counter: Sendable {
  private let count = Atomic(0)

  public init() {}
  public var value: Int { count.load(ordering: .acquiring) }
  /// Adds one, and returns the sum.
  @discardableResult
  public func next() -> Int { count.add(1, ordering: .acquiringAndReleasing).newValue }
}

/// Watches how many calls for one key run at a time.
public final class Overlaps: Sendable {
  private let running = Protected<[Int: Int]>([:])
  private let highest = Protected(0)

  public init() {}

  /// The most calls that were ever between ``begin(_:)`` and ``end(_:)`` for one key.
  public var most: Int { highest.withLock { $0 } }

  public func begin(_ key: Int) {
    let now = running.withLock { running in
      running[key, default: 0] += 1
      return running[key]!
    }
    highest.withLock { $0 = max($0, now) }
  }

  public func end(_ key: Int) { running.withLock { $0[key]! -= 1 } }
}
