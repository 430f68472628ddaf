// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Evicted objects that somebody may still hold, by key, held weakly: a miss may find them again.
///
/// A fixed number of places, in stripes by hash. The place for a newly evicted object is that of
/// the one evicted longest ago; besides, each takes two places further on to free those whose
/// objects have died.
///
/// **No object dies here** where values are released elsewhere. To look at an object is to hold it,
/// and the look may outlast all others who did. So an eviction does not look for the dead then; and
/// what ``clean()`` and ``find(_:_:)`` have held goes to the releaser, or to the caller.
///
/// **Nothing stale comes back.** Evictions are reported here after the core made them, so a report
/// may come late: after a newer value was stored and removed again. Hence every write to a key is
/// bracketed by `willWrite` and `didWrite`, which stamp the key's stripe from one clock:
///
///   1. `willWrite` forgets the key, and nothing is taken in or found while a write is under way.
///   2. Every operation takes a *moment* from the clock before it asks the core to do anything.
///      What it evicted is taken in only if the stripe's last stamp is older than the moment: no
///      write to the stripe began or ended since, so the evicted value is its key's last. (Of an
///      insertion's own bracket the moment is the stamp.)
///   3. What was found is stored again only if, under the shard's lock, the stripe's stamp is still
///      what it was when it was found. A write that begins later gets that lock later.
///
/// A write to another key of the stripe at the same time costs an object its second chance, nothing
/// else: an evicted object may be missed at any time.
class SecondChance<Key: Hashable & Sendable, Value: Sendable>: @unchecked Sendable {
  // Sendable: the clock and the stamps are atomics, all else is under locks.

  /// Something found: its value, and what it takes to store it again.
  struct Found {
    /// Never `nil` until it is given up.
    var value: Value?
    let cost: Int
    let stamp: UInt64
  }

  static var stripeCount: Int { 16 }

  /// Sequentially consistent, though acquire and release would do: writes with this power take
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

  /// The bits that choose a stripe choose neither a bucket's first slots nor a shard.
  static func stripe(of hash: UInt64) -> Int { Int(hash >> 40) % stripeCount }

  /// A moment before whatever the caller does next, later than every stamp.
  final func moment() -> UInt64 { clock.add(1, ordering: .sequentiallyConsistent).newValue }

  final func stamp(of stripe: Int) -> UInt64 {
    stamps[stripe].load(ordering: .sequentiallyConsistent)
  }

  /// The stripe's lock is held.
  final func renew(_ stripe: Int) -> UInt64 {
    let stamp = moment()
    stamps[stripe].store(stamp, ordering: .sequentiallyConsistent)
    return stamp
  }

  /// Whether nothing was written to the stripe since `stamp`.
  final func isCurrent(_ stamp: UInt64, _ hash: UInt64) -> Bool {
    self.stamp(of: Self.stripe(of: hash)) == stamp
  }

  /// Begins a write to `key`; returns its moment.
  func willWrite(_ key: Key, _ hash: UInt64) -> UInt64 { 0 }
  func didWrite(_ hash: UInt64) {}
  /// Begins a write that may concern any key, and forgets all.
  func willWriteAll() {}
  func didWriteAll() {}
  /// Takes in what was evicted after `moment`.
  func keep(_ value: Value, _ key: Key, _ hash: UInt64, cost: Int, since moment: UInt64) {}
  func find(_ key: Key, _ hash: UInt64) -> Found? { nil }
  /// Takes out what was found and is stored again, unless the stripe was written to since: what is
  /// removed from the cache later must not be found here.
  func forget(_ key: Key, _ hash: UInt64, since stamp: UInt64) {}
  /// Frees the places of objects that have died.
  func clean() {}
  /// Places in use, for tests.
  var count: Int { 0 }
}

/// The second chance for classes.
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

  override func didWrite(_ hash: UInt64) {
    let index = Self.stripe(of: hash)
    stripes[index].withLock { stripe in
      stripe.writers -= 1
      _ = renew(index)
    }
  }

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

  override func didWriteAll() {
    for (index, stripe) in stripes.enumerated() {
      stripe.withLock { stripe in
        stripe.writers -= 1
        _ = renew(index)
      }
    }
  }

  override func keep(
    _ value: Value, _ key: Key, _ hash: UInt64, cost: Int, since moment: UInt64
  ) {
    // What does not equal itself could never be found, nor taken out.
    guard key == key else { return }
    let index = Self.stripe(of: hash)
    let gone = stripes[index].withLock { stripe -> [AnyObject] in
      let stamp = stamp(of: index)
      let isLast =
        (stripe.writers == 0 && stamp < moment) || (stripe.writers == 1 && stamp == moment)
      return isLast ? stripe.add(WeakPlace(key: key, value: value, cost: cost)) : []
    }
    withExtendedLifetime(gone) {}
  }

  override func find(_ key: Key, _ hash: UInt64) -> Found? {
    let index = Self.stripe(of: hash)
    return stripes[index].withLock { stripe in
      guard stripe.writers == 0, let place = stripe.place(of: key), let value = place.value else {
        return nil
      }
      return Found(value: value, cost: place.cost, stamp: stamp(of: index))
    }
  }

  override func forget(_ key: Key, _ hash: UInt64, since stamp: UInt64) {
    let index = Self.stripe(of: hash)
    let gone = stripes[index].withLock { stripe in
      self.stamp(of: index) == stamp ? stripe.forget(key) : nil
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
