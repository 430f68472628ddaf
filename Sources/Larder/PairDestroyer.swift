// SPDX-License-Identifier: Apache-2.0
import CLarder

/// Destroys pairs for the core when no call of a typed cache is on the stack: on the maintenance
/// thread, and when a cache is closed. The core holds one reference until its memory is freed.
class PairDestroyer {
  func destroy(_ entry: UnsafeMutablePointer<lrd_entry>) {}

  /// The hooks of a cache, which keep `self` alive until the core releases them.
  func hooks() -> lrd_hooks {
    lrd_hooks(
      context: Unmanaged<PairDestroyer>.passRetained(self).toOpaque(),
      destroy: { context, entry in
        Unmanaged<PairDestroyer>.fromOpaque(context!).takeUnretainedValue().destroy(entry)
      },
      release: { context in Unmanaged<PairDestroyer>.fromOpaque(context!).release() })
  }
}

final class TypedPairDestroyer<Key, Value>: PairDestroyer {
  override func destroy(_ entry: UnsafeMutablePointer<lrd_entry>) {
    entry.value(of: EntryLayout<Key, Value>.self).deinitialize(count: 1)
    entry.key(of: EntryLayout<Key, Value>.self).deinitialize(count: 1)
  }
}
