// SPDX-License-Identifier: Apache-2.0

/// Where a cache releases the values that leave it.
///
///     let images = Cache<URL, Image>(
///       totalCostLimit: 1 << 28, cost: { _, image in image.byteCount },
///       options: .init(release: .background()))
///     let views = Cache<Int, View>(
///       countLimit: 50, options: .init(release: .mainActor))
///     let others = Cache<Int, Model>(
///       options: .init(release: .init { batch in queue.async { batch.release() } }))
///
/// This holds on every path: eviction, replacement, removal, refusal, and the end of the cache.
/// Keys are released by the thread that takes them out of the cache. A value that a call returns to
/// you, or a copy you have made, is yours to release: if it is the last reference, the value dies
/// where you drop it.
///
/// A task that has loaded a value hands its own reference on as well, since that may be the last one
/// by then.
///
/// **Back-pressure.** The limits of the cache do not count the batches that wait, so they pile up if the receiver is slower than the cache's evictions. With a `pendingLimit`, a call that
/// would exceed it releases its batch itself, and so slows down to the pace of the releases.
/// Without a `pendingLimit`, values are released only where you say, and nothing bounds the pile.
///
/// **fork().** A child process has none of the threads that executors run on. There, values handed
/// to ``background(priority:pendingLimit:file:line:)``, the main actor or an executor are not
/// released.
public struct ValueRelease<Value: Sendable>: Sendable {
  let pendingLimit: Int
  let receive: @Sendable (ReleaseBatch<Value>) -> Void

  /// Hands batches to `receive`, on the thread that took the values out of the cache: the thread of
  /// the call, the one that drops the cache, or the background thread. No lock is held. `receive`
  /// should see to it that ``ReleaseBatch/release()`` is called. It may use the cache; it should
  /// not wait.
  ///
  /// - Parameters:
  ///   - pendingLimit: The most values that may wait; 0 for no limit. Must not be negative.
  ///   - file: The file of the call, for the message of a trap.
  ///   - line: The line of the call, for the message of a trap.
  ///   - receive: Takes a batch of up to 256 values.
  public init(
    pendingLimit: Int = 0, file: StaticString = #fileID, line: UInt = #line,
    _ receive: @escaping @Sendable (ReleaseBatch<Value>) -> Void
  ) {
    require(pendingLimit >= 0, "pendingLimit must not be negative", file: file, line: line)
    self.pendingLimit = pendingLimit
    self.receive = receive
  }

  /// Releases each batch in a task of its own, on the global executor.
  public static func background(
    priority: TaskPriority = .background, pendingLimit: Int = 65_536,
    file: StaticString = #fileID, line: UInt = #line
  ) -> ValueRelease {
    ValueRelease(pendingLimit: pendingLimit, file: file, line: line) { batch in
      Task.detached(priority: priority) { batch.release() }
    }
  }

  /// Releases on the main actor, and nowhere else.
  public static var mainActor: ValueRelease {
    ValueRelease { batch in Task { @MainActor in batch.release() } }
  }

  /// Releases on an executor, and nowhere else.
  public static func executor(_ executor: any TaskExecutor) -> ValueRelease {
    ValueRelease { batch in
      Task.detached(executorPreference: executor) { batch.release() }
    }
  }
}
