// SPDX-License-Identifier: Apache-2.0
import CLarder
import Synchronization

/// Weak references to evicted objects, by key. While somebody else still holds such an object, a
/// miss may find it again.
///
/// It holds a fixed number of records, in stripes by hash. A newly evicted object takes over the
/// record of the one evicted longest ago. Each one also looks at two records further on, and frees
/// those whose objects have died.
///
/// **No object dies here** if the cache releases values elsewhere. Looking at an object means
/// holding it, and the look may outlast everyone else who holds it. So in that case an eviction
/// does not look for dead objects, and whatever ``clean()`` and ``find(_:_:)`` have held goes to
/// the releaser or to the caller.
///
/// **Nothing stale comes back.** The core makes an eviction first, and then the thread reports it
/// here. The report may come late, after a newer value was stored and removed again. So `willWrite`
/// and `didWrite` enclose every write to a key, and stamp the key's stripe from one clock:
///
///   1. `willWrite` forgets the key. While a write is under way, nothing is taken in and nothing
///      found.
///   2. Every operation takes a *moment* from the clock before it asks the core to do anything.
///      What it evicted is taken in only if the stripe's last stamp is older than the moment. Then
///      no write to the stripe began or ended since, and the evicted value is its key's last. (For
///      an insertion the moment is the stamp of its own `willWrite`.)
///   3. A found object is stored again only if the stripe's stamp is still the one with which it
///      was found. This is checked under the shard's lock; a write that begins later gets that lock
///      later.
///
/// A write to another key of the stripe at the same time costs an object its second chance, and
/// nothing else. An evicted object may be missed at any time.
class SecondChance<Key: Hashable & Sendable, Value: Sendable>: @unchecked Sendable {
  // Sendable: the clock and the stamps are atomics, everything else is under locks.

  /// An object that was found: its value, and what it takes to store it again.
  struct Found {
    /// Not `nil` until it is given up.
    var value: Value?
    let cost: Int
    /// When it was stored, and when it will expire.
    let timing: lrd_timing
    let stamp: UInt64
    /// What it was found in.
    let record: AnyObject
    /// Whether it had a deadline: not if it was evicted before the cache was first given a
    /// lifetime.
    var isTimed: Bool { timing.word != 0 }
  }

  static var stripeCount: Int { 16 }

  /// Sequentially consistent, although acquire and release would do. Writes with this feature take
  /// locks anyway.
  private let clock = Atomic<UInt64>(1)
  private let stamps: UnsafeMutablePointer<Atomic<UInt64>>

  init() {
    stamps = .allocate(capacity: Self.stripeCount)
    for stripe in 0..<Self.stripeCount { (stamps + stripe).initialize(to: Atomic(1)) }
  }

  deinit {
    stamps.deinitialize(count: Self.stripeCount)
    stamps.deallocate()
  }

  /// These bits of the hash choose neither a cell in a bucket nor a shard.
  static func stripe(of hash: UInt64) -> Int { Int(hash >> 40) % stripeCount }

  /// A moment before whatever the caller does next, and later than every stamp.
  final func moment() -> UInt64 { clock.add(1, ordering: .sequentiallyConsistent).newValue }

  final func stamp(of stripe: Int) -> UInt64 {
    stamps[stripe].load(ordering: .sequentiallyConsistent)
  }

  /// Gives a stripe a new stamp. The stripe's lock is held.
  final func renew(_ stripe: Int) -> UInt64 {
    let stamp = moment()
    stamps[stripe].store(stamp, ordering: .sequentiallyConsistent)
    return stamp
  }

  /// Whether nothing was written to the stripe since `stamp`.
  final func isCurrent(_ stamp: UInt64, _ hash: UInt64) -> Bool {
    self.stamp(of: Self.stripe(of: hash)) == stamp
  }

  /// Begins a write to `key`. Returns the write's moment.
  func willWrite(_ key: Key, _ hash: UInt64) -> UInt64 { 0 }
  func didWrite(_ hash: UInt64) {}
  /// Begins a write that may concern any key, and forgets all keys.
  func willWriteAll() {}
  func didWriteAll() {}
  /// Takes in a value that was evicted after `moment`.
  func keep(
    _ value: Value, _ key: Key, _ hash: UInt64, cost: Int, timing: lrd_timing, since moment: UInt64
  ) {}
  func find(_ key: Key, _ hash: UInt64) -> Found? { nil }
  /// Forgets an object that was found and is stored again, or has expired, if the key still has
  /// that record. What leaves the cache later must not be found here. Stamps do not matter: other
  /// keys of the stripe may have been written to.
  func forget(_ key: Key, _ hash: UInt64, _ record: AnyObject) {}
  /// Frees the records of objects that have died.
  func clean() {}
  /// The number of records in use, for tests.
  var count: Int { 0 }
}

/// The second chance of objects.
final class WeakSecondChance<Key: Hashable & Sendable, Value: AnyObject & Sendable>:
  SecondChance<Key, Value>, @unchecked Sendable
{
  private let stripes: [Guarded<WeakStripe<Key, Value>>]
  private let releaser: Releaser<Value>?

  init(capacity: Int, releaser: Releaser<Value>?) {
    self.releaser = releaser
    stripes = (0..<Self.stripeCount).map { _ in
      Guarded(
        WeakStripe(
          capacity: (capacity + Self.stripeCount - 1) / Self.stripeCount, sweeps: releaser == nil))
    }
  }

  override func willWrite(_ key: Key, _ hash: UInt64) -> UInt64 {
    let index = Self.stripe(of: hash)
    let (stamp, gone) = stripes[index].withLock { stripe in
      stripe.writers += 1
      return (renew(index), stripe.forget(key))
    }
    withExtendedLifetime(gone) {}
    return stamp
  }

  override func didWrite(_ hash: UInt64) { endWrite(Self.stripe(of: hash)) }

  override func willWriteAll() {
    for (index, stripe) in stripes.enumerated() {
      let gone = stripe.withLock { stripe in
        stripe.writers += 1
        _ = renew(index)
        return stripe.forgetAll()
      }
      withExtendedLifetime(gone) {}
    }
  }

  override func didWriteAll() { stripes.indices.forEach(endWrite) }

  private func endWrite(_ index: Int) {
    stripes[index].withLock { stripe in
      stripe.writers -= 1
      _ = renew(index)
    }
  }

  override func keep(
    _ value: Value, _ key: Key, _ hash: UInt64, cost: Int, timing: lrd_timing, since moment: UInt64
  ) {
    // A key that does not equal itself could never be found, nor taken out.
    guard key == key else { return }
    let index = Self.stripe(of: hash)
    let record = WeakRecord(key: key, value: value, cost: cost, timing: timing)
    let gone = stripes[index].withLock { stripe -> [AnyObject] in
      let stamp = stamp(of: index)
      let isLast =
        (stripe.writers == 0 && stamp < moment) || (stripe.writers == 1 && stamp == moment)
      return isLast ? stripe.add(record) : []
    }
    withExtendedLifetime(gone) {}
  }

  override func find(_ key: Key, _ hash: UInt64) -> Found? {
    let index = Self.stripe(of: hash)
    return stripes[index].withLock { stripe in
      guard stripe.writers == 0, let record = stripe.record(of: key), let value = record.value
      else { return nil }
      return Found(
        value: value, cost: record.cost, timing: record.timing, stamp: stamp(of: index),
        record: record)
    }
  }

  override func forget(_ key: Key, _ hash: UInt64, _ record: AnyObject) {
    let gone = stripes[Self.stripe(of: hash)].withLock {
      $0.record(of: key) === record ? $0.forget(key) : nil
    }
    withExtendedLifetime(gone) {}
  }

  override func clean() {
    for stripe in stripes {
      var (gone, alive) = stripe.withLock { $0.removeDead() }
      withExtendedLifetime(gone) {}
      guard let releaser else { continue }
      var batch: ReleaseBatch<Value>?
      while let value = alive.popLast() { releaser.add(consume value, to: &batch) }
      if let batch { releaser.hand(batch) }
    }
  }

  override var count: Int { stripes.reduce(0) { $0 + $1.withLock { $0.count } } }
}
