// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The keys that were evicted recently: a fixed table of fingerprints that tells "evicted" from
/// "never cached".
///
///     bucket   [ fingerprint × 7 | how many were ever put in ]     32 bytes
///
/// The upper half of a key's hash chooses a bucket, the lower half is the fingerprint. A bucket
/// forgets its oldest fingerprint for a new one. The table has room for two fingerprints for each
/// key to be remembered, so that few buckets overflow: of the last `capacity` keys some 2 % are
/// forgotten early, the older ones first. The chance that a key that was never evicted is taken for
/// an evicted one is 7 in 2^32.
///
/// All accesses are relaxed atomics, because they publish nothing. Two threads that write to one
/// bucket at the same time may lose a fingerprint or put one in twice.
final class EvictionMemory: @unchecked Sendable {
  // Sendable: only atomics change after creation.
  private static let slots = 7
  private let buckets: Int
  private let words: UnsafeMutablePointer<Atomic<UInt32>>

  /// `nil` if nothing is to be remembered.
  init?(capacity: Int, for place: Place) {
    let (file, line) = (place.file, place.line)
    require(capacity >= 0, "rememberedEvictions must not be negative", file: file, line: line)
    require(
      UInt64(clamping: capacity) < 1 << 31, "rememberedEvictions must be below 2^31", file: file,
      line: line)
    if capacity == 0 { return nil }
    buckets = (2 * capacity + Self.slots - 1) / Self.slots
    words = .allocate(capacity: buckets * (Self.slots + 1))
    for word in 0..<buckets * (Self.slots + 1) { (words + word).initialize(to: Atomic(0)) }
  }

  deinit {
    words.deinitialize(count: buckets * (Self.slots + 1))
    words.deallocate()
  }

  private func bucket(of hash: UInt64) -> UnsafeMutablePointer<Atomic<UInt32>> {
    words + Int(((hash >> 32) * UInt64(buckets)) >> 32) * (Self.slots + 1)
  }

  /// Never 0, which marks an unused word.
  private static func fingerprint(of hash: UInt64) -> UInt32 {
    Swift.max(1, UInt32(truncatingIfNeeded: hash))
  }

  func remember(_ hash: UInt64) {
    if contains(hash) { return }
    let bucket = bucket(of: hash)
    let number = bucket[Self.slots].wrappingAdd(1, ordering: .relaxed).oldValue
    bucket[Int(number % UInt32(Self.slots))].store(
      Self.fingerprint(of: hash), ordering: .relaxed)
  }

  func forget(_ hash: UInt64) {
    let bucket = bucket(of: hash)
    let fingerprint = Self.fingerprint(of: hash)
    for slot in 0..<Self.slots where bucket[slot].load(ordering: .relaxed) == fingerprint {
      _ = bucket[slot].compareExchange(expected: fingerprint, desired: 0, ordering: .relaxed)
    }
  }

  func contains(_ hash: UInt64) -> Bool {
    let bucket = bucket(of: hash)
    let fingerprint = Self.fingerprint(of: hash)
    return (0..<Self.slots).contains { bucket[$0].load(ordering: .relaxed) == fingerprint }
  }
}
