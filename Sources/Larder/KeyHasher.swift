// SPDX-License-Identifier: Apache-2.0

public import CLarder

/// The hash function of one cache, and the comparison of its keys. It is fast for words and ASCII
/// strings, and uses `Hasher` for all other keys.
///
/// Two keys that are `==` have equal hashes. The seeds are secret and every cache draws its own, so
/// keys chosen to collide in one process, or in one cache, do not collide in the next. All 64 bits
/// are usable. In the core the top bits choose a bucket, bits 24 to 31 are a tag, and bits 16 to 21
/// choose a shard; it keeps none of the low 16.
///
///     Int… UInt64, ObjectIdentifier   two multiplications        lrd_hash.h says how strong
///     String, ASCII                   one multiplication per 16 bytes, and two more
///     String, other text              canonically, see StringHashing
///     everything else                 Hasher (SipHash-1-3), seeded, then folded
///
/// In specialised code the tests on `Key.self` are constants, and only the taken branch remains.
@usableFromInline package struct KeyHasher<Key: Hashable>: Sendable {
  @usableFromInline package let seed0: UInt64
  @usableFromInline package let seed1: UInt64
  /// `LRD_HASH_LOW` and `LRD_HASH_HIGH`, at hand.
  @usableFromInline let low: UInt64
  @usableFromInline let high: UInt64

  /// A hasher with seeds from the system's random source.
  package init() {
    var random = SystemRandomNumberGenerator()
    self.init(seed0: random.next(), seed1: random.next())
  }

  /// A hasher with known seeds. Some bits are forced, see `lrd_hash.h`; the rest must look random.
  package init(seed0: UInt64, seed1: UInt64) {
    self.seed0 = lrd_hash_seed0(seed0)
    self.seed1 = lrd_hash_seed1(seed1)
    low = LRD_HASH_LOW
    high = LRD_HASH_HIGH
  }

  /// The hash of `key`, the same for every key equal to it.
  @inlinable @inline(__always)
  package func hash(_ key: Key) -> UInt64 {
    if Self.isWord { return lrd_hash_word_by(Self.word(key), seed0, seed1, low, high) }
    if Key.self == String.self {
      return StringHashing.hash(unsafeBitCast(key, to: String.self), seed0, seed1)
    }
    return Self.hashBySip(key, seed0, seed1)
  }

  /// Whether a stored key equals another one of the same hash.
  @inlinable @inline(__always)
  package static func isEqual(_ stored: UnsafePointer<Key>, _ other: Key) -> Bool {
    guard Key.self == String.self else { return stored.pointee == other }
    return StringHashing.isEqual(
      UnsafeRawPointer(stored).assumingMemoryBound(to: String.self),
      unsafeBitCast(other, to: String.self))
  }

  /// The hash of a key by `Hasher`, whose own seed belongs to the process, seeded for this cache as
  /// well.
  @inlinable @inline(__always)
  static func hashBySip(_ key: Key, _ seed0: UInt64, _ seed1: UInt64) -> UInt64 {
    let hash = StandardLibrary.hash(key, seed: Int(truncatingIfNeeded: seed0))
    return lrd_hash_fold(UInt64(truncatingIfNeeded: hash) ^ seed0, seed1)
  }

  /// Whether `Key` has at most 64 bits, no padding, and is equal exactly when its bits are.
  @inlinable @inline(__always)
  static var isWord: Bool {
    Key.self == Int.self || Key.self == UInt.self || Key.self == Int64.self
      || Key.self == UInt64.self || Key.self == Int32.self || Key.self == UInt32.self
      || Key.self == Int16.self || Key.self == UInt16.self || Key.self == Int8.self
      || Key.self == UInt8.self || Key.self == ObjectIdentifier.self
      || Key.self == Unicode.Scalar.self
  }

  /// The bits of a key for which `isWord` holds.
  @inlinable @inline(__always)
  static func word(_ key: Key) -> UInt64 {
    switch MemoryLayout<Key>.size {
    case 8: unsafeBitCast(key, to: UInt64.self)
    case 4: UInt64(unsafeBitCast(key, to: UInt32.self))
    case 2: UInt64(unsafeBitCast(key, to: UInt16.self))
    default: UInt64(unsafeBitCast(key, to: UInt8.self))
    }
  }
}
