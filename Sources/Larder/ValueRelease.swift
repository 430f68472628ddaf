// SPDX-License-Identifier: Apache-2.0

/// Where a cache releases the values that leave it.
///
///     let images = Cache<URL, Image>(
///       totalCostLimit: 1 << 28, options: .init(release: .background()))
///     let views = Cache<Int, View>(
///       countLimit: 50, options: .init(release: .mainActor))
///     let others = Cache<Int, Model>(
///       options: .init(release: .init { batch in queue.async { batch.release() } }))
///
/// It holds on every path: eviction, replacement, removal, refusal, and the end of the cache. Keys
/// are released by the thread at hand. A value that a call returns to you, and a copy you have
/// made, is yours to release: if yours is the last reference, the value dies where you drop it.
///
/// **Back-pressure.** Batches that wait are no longer in the cache: its limits do not count them,
/// and a receiver that is slower than the cache evicts piles them up. With a `pendingLimit`, a call
/// that would have more values waiting than that releases its batch itself, and so slows down to
/// the pace of releases. Without one nothing is released elsewhere than you say, and nothing bounds
/// the pile.
///
/// **fork().** A child has none of the threads that executors run on: what is handed to
/// ``background(priority:pendingLimit:)``, the main actor or an executor is not released there.
public struct ValueRelease<Value: Sendable>: Sendable {
  let pendingLimit: Int
  let receive: @Sendable (ReleaseBatch<Value>) -> Void

  /// Hands batches to `receive`, on the thread that emptied them out of the cache: the one of the
  /// call, the one that drops the cache, or the background thread; no lock is held. It is to have
  /// ``ReleaseBatch/release()`` called. It may use the cache; it should not wait.
  ///
  /// - Parameters:
  ///   - pendingLimit: The most values that may wait; 0 for no limit. Must not be negative.
  ///   - receive: Takes a batch of up to 256 values.
  public init(
    pendingLimit: Int = 0, _ receive: @escaping @Sendable (ReleaseBatch<Value>) -> Void
  ) {
    require(pendingLimit >= 0, "pendingLimit must not be negative")
    self.pendingLimit = pendingLimit
    self.receive = receive
  }

  /// In tasks of their own, on the global executor.
  public static func background(
    priority: TaskPriority = .background, pendingLimit: Int = 65_536
  ) -> ValueRelease {
    ValueRelease(pendingLimit: pendingLimit) { batch in
      Task.detached(priority: priority) { batch.release() }
    }
  }

  /// On the main actor, and nowhere else.
  public static var mainActor: ValueRelease {
    ValueRelease { batch in Task { @MainActor in batch.release() } }
  }

  /// On an executor, and nowhere else.
  public static func executor(_ executor: any TaskExecutor) -> ValueRelease {
    ValueRelease { batch in
      Task.detached(executorPreference: executor) { batch.release() }
    }
  }
}
