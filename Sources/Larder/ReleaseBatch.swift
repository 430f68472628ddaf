// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Values that have left a cache, or that a task has loaded for one, and wait for their release.
///
/// Each value is released exactly once: by ``release()``, or, if nobody calls that, where the last
/// reference to the batch is dropped. An array would not do. The sender's reference to an array
/// might outlive the receiver's, and the values would then die on the sending thread after all.
///
/// A value in a batch does not always die with it, because others may hold it too. Nor is it always
/// there for the first time: with ``Cache/Options/secondChances``, each ``Cache/reclaim()`` hands
/// on all evicted objects that are alive, because it had to take references to them.
public final class ReleaseBatch<Value: Sendable>: @unchecked Sendable {
  // Sendable: `values` is written first by the thread that fills the batch, which hands the batch
  // on once, and then by the one call that finds `isReleased` false.
  private var values: [Value] = []
  private let isReleased = Atomic(false)
  private let releaser: Releaser<Value>

  init(_ releaser: Releaser<Value>) { self.releaser = releaser }

  var count: Int { values.count }

  func append(_ value: consuming Value) { values.append(consume value) }

  /// Releases the values on the calling thread, before it returns. Further calls do nothing.
  ///
  /// - Complexity: O(the number of values), at most 256, plus what their `deinit`s take.
  public func release() {
    guard !isReleased.exchange(true, ordering: .acquiringAndReleasing) else { return }
    let count = values.count
    values = []
    releaser.released(count)
  }

  deinit {
    if !isReleased.load(ordering: .acquiring) { releaser.released(values.count) }
  }
}

/// Gathers values in batches and hands these on.
@usableFromInline final class Releaser<Value: Sendable>: Sendable {
  /// The most values in one batch.
  static var batchMost: Int { 256 }

  private let pendingLimit: Int
  private let receive: @Sendable (ReleaseBatch<Value>) -> Void
  /// The number of values handed on and not yet released. Relaxed: it publishes nothing.
  private let pending = Atomic(0)

  init(_ release: ValueRelease<Value>) {
    pendingLimit = release.pendingLimit
    receive = release.receive
  }

  /// Moves a value to a batch, and hands the batch on when it is full.
  func add(_ value: consuming Value, to batch: inout ReleaseBatch<Value>?) {
    let filled = batch ?? ReleaseBatch(self)
    filled.append(consume value)
    batch = filled
    if filled.count >= Self.batchMost, let full = batch.take() { hand(full) }
  }

  /// Moves a value to the last of several batches, or to a new one. Hands none of them on.
  func add(_ value: consuming Value, to batches: inout [ReleaseBatch<Value>]) {
    if batches.isEmpty || batches[batches.count - 1].count >= Self.batchMost {
      batches.append(ReleaseBatch(self))
    }
    batches[batches.count - 1].append(consume value)
  }

  func hand(_ batch: ReleaseBatch<Value>) {
    let waiting = pending.add(batch.count, ordering: .relaxed).newValue
    if pendingLimit > 0 && waiting > pendingLimit { return batch.release() }
    receive(batch)
  }

  /// Hands on a batch of one value.
  @usableFromInline
  func release(_ value: consuming Value) {
    var batch: ReleaseBatch<Value>?
    add(consume value, to: &batch)
    if let batch { hand(batch) }
  }

  func released(_ count: Int) { pending.subtract(count, ordering: .relaxed) }
}
