// SPDX-License-Identifier: Apache-2.0
import CLarder

extension Cache {
  /// Receives each removed entry as ``RemovalObserver`` does, and the cache that it has left.
  public typealias AddedObserver =
    @Sendable (
      _ cache: Cache, _ key: Key, _ value: Value, _ cost: Int, _ cause: RemovalCause
    ) -> Void

  /// Adds an observer of removals. There may be any number of them; they are told in the order in
  /// which they were added, after the one that the cache was created with.
  ///
  ///     let watch = sessions.observeRemovals { sessions, key, _, _, cause in
  ///       log("\(sessions.name): \(key) left: \(cause)")
  ///     }
  ///     …
  ///     watch.cancel()
  ///
  /// The observer hears of every removal that begins after this call has returned. It runs on the
  /// thread that caused the removal, outside all locks, with the value alive, and may use the
  /// cache. It is kept until it is cancelled, or the cache goes away, whose last entries it does
  /// not hear of. A cache that was ever observed goes on to pay for it: a removal takes its lock
  /// once more.
  ///
  /// - Returns: What to cancel the observer with; may be dropped.
  /// - Complexity: Locks all shards at once, for O(1) steps.
  @discardableResult
  public func observeRemovals(_ observer: @escaping AddedObserver) -> Observation {
    let list = added.load() ?? added.storeIfNil(AddedObservers())
    let number = list.add(observer)
    destroyer.serve(self)
    lrd_removal_observe(core, true)
    return Observation { [weak list] in list?.remove(number) }
  }

  /// An observer that was added to a cache.
  public struct Observation: Sendable {
    let end: @Sendable () -> Void

    /// Removes the observer. It hears of no removal that begins afterwards; another thread may be
    /// telling it of an earlier one. Does nothing a second time.
    ///
    /// - Complexity: O(*o*) for *o* observers of the cache.
    public func cancel() { end() }
  }
}

/// The observers that were added to a cache.
final class AddedObservers<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  typealias Numbered = (number: UInt64, observer: Cache<Key, Value>.AddedObserver)

  private struct List {
    /// The number of changes, which also numbers the observers.
    var changes: UInt64 = 0
    var all: [Numbered] = []
  }

  /// Only the array's reference is copied under the lock.
  private let list = Guarded(List())

  var all: [Numbered] { list.withLock { $0.all } }

  func add(_ observer: @escaping Cache<Key, Value>.AddedObserver) -> UInt64 {
    change { $0.append(($1, observer)) }
  }

  func remove(_ number: UInt64) {
    change { all, _ in all.removeAll { $0.number == number } }
  }

  /// Changes a copy, and tries again if another thread was faster: nothing is allocated or
  /// destroyed under the lock. Returns the number of the change.
  @discardableResult
  private func change(_ body: (inout [Numbered], UInt64) -> Void) -> UInt64 {
    while true {
      let old = list.withLock { $0 }
      let number = old.changes + 1
      var all = old.all
      body(&all, number)
      let isSwapped = list.withLock { list in
        if list.changes != old.changes { return false }
        list = List(changes: number, all: all)
        return true
      }
      // Here and not under the lock the old list may go.
      withExtendedLifetime(old) {}
      if isSwapped { return number }
    }
  }
}
