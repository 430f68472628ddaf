// SPDX-License-Identifier: Apache-2.0
import CLarder

/// Destroys keys and values for the core when no call of a typed cache is on the stack: on the
/// background thread, and when a cache is closed. Shows the entries that the background thread has
/// removed because they have expired. The core holds one reference to it until the
/// cache's memory is freed.
class PairDestroyer {
  func destroy(_ entry: UnsafeMutablePointer<lrd_entry>, _ batch: inout UnsafeMutableRawPointer?) {
  }

  func finish(_ batch: UnsafeMutableRawPointer) {}

  func show(_ first: UnsafeMutablePointer<lrd_entry>) {}

  /// The hooks of a cache. They keep `self` alive until the core releases them.
  func hooks() -> lrd_hooks {
    lrd_hooks(
      context: Unmanaged<PairDestroyer>.passRetained(self).toOpaque(),
      destroy: { context, entry, batch in
        Unmanaged<PairDestroyer>.fromOpaque(context!).takeUnretainedValue()
          .destroy(entry, &batch.pointee)
      },
      finish: { context, batch in
        Unmanaged<PairDestroyer>.fromOpaque(context!).takeUnretainedValue().finish(batch)
      },
      show: { context, first in
        Unmanaged<PairDestroyer>.fromOpaque(context!).takeUnretainedValue().show(first)
      },
      release: { context in Unmanaged<PairDestroyer>.fromOpaque(context!).release() })
  }
}

final class TypedPairDestroyer<Key: Hashable & Sendable, Value: Sendable>: PairDestroyer {
  private let releaser: Releaser<Value>?
  /// Who shows what has expired; set before anything can. A strong reference keeps the cache alive
  /// while user code sees it. If it is the last one, the cache is closed here, amid a visit.
  weak var owner: Cache<Key, Value>?

  init(releaser: Releaser<Value>?) { self.releaser = releaser }

  override func destroy(
    _ entry: UnsafeMutablePointer<lrd_entry>, _ batch: inout UnsafeMutableRawPointer?
  ) {
    let value = entry.value(of: EntryLayout<Key, Value>.self)
    if let releaser {
      var values = batch.map { Unmanaged<ReleaseBatch<Value>>.fromOpaque($0).takeRetainedValue() }
      releaser.add(value.move(), to: &values)
      batch = values.map { Unmanaged.passRetained($0).toOpaque() }
    } else {
      value.deinitialize(count: 1)
    }
    entry.key(of: EntryLayout<Key, Value>.self).deinitialize(count: 1)
  }

  override func finish(_ batch: UnsafeMutableRawPointer) {
    releaser?.hand(Unmanaged<ReleaseBatch<Value>>.fromOpaque(batch).takeRetainedValue())
  }

  override func show(_ first: UnsafeMutablePointer<lrd_entry>) { owner?.show(first, since: 0) }
}
