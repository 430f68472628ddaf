// SPDX-License-Identifier: Apache-2.0
import CLarder
import Synchronization

/// Does the core's work on keys and values when no call of a typed cache is on the stack: on the
/// background thread, under memory pressure, when a cache is first given a lifetime, and when one
/// is closed. Shows the entries that leave there. The core holds one reference to it until the
/// cache's memory is freed.
@usableFromInline class PairDestroyer {
  /// The cache's answer to memory pressure, and how many have been set.
  let response = Guarded((current: PressureResponse.ignore, version: UInt64(0)))

  func destroy(_ entry: UnsafeMutablePointer<lrd_entry>, _ batch: inout UnsafeMutableRawPointer?) {
  }

  func finish(_ batch: UnsafeMutableRawPointer) {}

  func show(_ first: UnsafeMutablePointer<lrd_entry>, since moment: UInt64) {}

  /// Whether somebody beside the cache holds the value. The shard's lock is held.
  func isHeld(_ entry: UnsafePointer<lrd_entry>) -> Bool { false }

  /// A moment before entries are evicted; see `SecondChance`.
  func moment() -> UInt64 { 0 }

  func copy(_ entry: UnsafeMutablePointer<lrd_entry>, to copy: UnsafeMutablePointer<lrd_entry>) {}

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
      show: { context, first, moment in
        Unmanaged<PairDestroyer>.fromOpaque(context!).takeUnretainedValue()
          .show(first, since: moment)
      },
      release: { context in Unmanaged<PairDestroyer>.fromOpaque(context!).release() },
      ask: { context, level, _ in
        let destroyer = Unmanaged<PairDestroyer>.fromOpaque(context!).takeUnretainedValue()
        let response = destroyer.response.withLock { $0.current }
        return response.action(at: MemoryPressure.Level(rawValue: Int(level))!).core
      },
      is_held: { context, entry in
        Unmanaged<PairDestroyer>.fromOpaque(context!).takeUnretainedValue().isHeld(entry)
      },
      moment: { context in
        Unmanaged<PairDestroyer>.fromOpaque(context!).takeUnretainedValue().moment()
      },
      copy: { context, copy, entry in
        Unmanaged<PairDestroyer>.fromOpaque(context!).takeUnretainedValue().copy(entry, to: copy)
      })
  }
}

final class TypedPairDestroyer<Key: Hashable & Sendable, Value: Sendable>: PairDestroyer {
  private let extras: Extras<Key, Value>?
  private var releaser: Releaser<Value>? { extras?.releaser }
  /// Who shows what leaves. Most caches have none: objects with weak references are slower to
  /// retain.
  private let owner = AtomicLazyReference<WeakCache<Key, Value>>()

  init(_ extras: Extras<Key, Value>?) { self.extras = extras }

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

  /// Lets `cache` show what leaves; called before it is observed.
  func serve(_ cache: Cache<Key, Value>) { _ = owner.storeIfNil(WeakCache(cache)) }

  override func show(_ first: UnsafeMutablePointer<lrd_entry>, since moment: UInt64) {
    // Keeps the cache alive while user code sees it. If this is the last reference, the cache is
    // closed here, amid a visit or a relief.
    owner.load()?.cache?.show(first, since: moment)
  }

  override func isHeld(_ entry: UnsafePointer<lrd_entry>) -> Bool {
    guard Value.self is AnyObject.Type else { return false }
    let value = UnsafeMutablePointer(mutating: entry).value(of: EntryLayout<Key, Value>.self)
    return !isOnlyReference(UnsafeRawPointer(value))
  }

  override func moment() -> UInt64 { extras?.secondChance?.moment() ?? 0 }

  override func copy(
    _ entry: UnsafeMutablePointer<lrd_entry>, to copy: UnsafeMutablePointer<lrd_entry>
  ) {
    typealias Layout = EntryLayout<Key, Value>
    copy.key(of: Layout.self).initialize(to: entry.key(of: Layout.self).pointee)
    copy.value(of: Layout.self).initialize(to: entry.value(of: Layout.self).pointee)
    if extras?.ages != nil {
      copy.age(of: Layout.self).initialize(to: entry.age(of: Layout.self).pointee)
    }
    extras?.refresh?.copy(entry, to: copy)
  }
}

/// A cache, unless it is gone.
private final class WeakCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  // Set once, by `init`. (`weak let` needs Swift 6.3.)
  nonisolated(unsafe) private(set) weak var cache: Cache<Key, Value>?

  init(_ cache: Cache<Key, Value>) { self.cache = cache }
}

/// Whether the stored reference is the only strong one. Asks about a copy of its bits, because the
/// question needs exclusive access to the variable and readers are looking at that.
func isOnlyReference(_ stored: UnsafeRawPointer) -> Bool {
  withUnsafeTemporaryAllocation(of: AnyObject.self, capacity: 1) { copy in
    UnsafeMutableRawPointer(copy.baseAddress!)
      .copyMemory(from: stored, byteCount: MemoryLayout<AnyObject>.size)
    return isKnownUniquelyReferenced(&copy[0])
  }
}
