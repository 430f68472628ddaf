// SPDX-License-Identifier: Apache-2.0
public import CLarder

/// Where key and value lie in an entry: `[ lrd_entry | key | value ]`, each at its own alignment;
/// then the entry's number by age, in caches that remember it.
///
/// In specialised code all of this folds to constants.
@usableFromInline package enum EntryLayout<Key, Value> {
  @inlinable static var keyOffset: Int {
    roundUp(MemoryLayout<lrd_entry>.size, MemoryLayout<Key>.alignment)
  }

  @inlinable static var valueOffset: Int {
    roundUp(keyOffset + MemoryLayout<Key>.size, MemoryLayout<Value>.alignment)
  }

  static var size: Int { valueOffset + MemoryLayout<Value>.size }

  static var ageOffset: Int {
    roundUp(valueOffset + MemoryLayout<Value>.size, MemoryLayout<UInt64>.alignment)
  }

  static var sizeWithAge: Int { ageOffset + MemoryLayout<UInt64>.size }

  /// Whether a value is, as far as its layout tells, one reference, so that what it points to can
  /// be loaded ahead of its use. Its bits need not be an address.
  @inlinable package static var valueIsReference: Bool {
    MemoryLayout<Value>.size == MemoryLayout<UnsafeRawPointer>.size
      && MemoryLayout<Value>.alignment == MemoryLayout<UnsafeRawPointer>.alignment
      && !_isPOD(Value.self)
  }

  static var alignment: Int {
    max(
      MemoryLayout<lrd_entry>.alignment, MemoryLayout<Key>.alignment,
      MemoryLayout<Value>.alignment)
  }

  @inlinable static func roundUp(_ size: Int, _ alignment: Int) -> Int {
    (size + alignment - 1) & ~(alignment - 1)
  }
}

extension UnsafeMutablePointer<lrd_entry> {
  @inlinable @inline(__always)
  func key<Key, Value>(of layout: EntryLayout<Key, Value>.Type) -> UnsafeMutablePointer<Key> {
    (UnsafeMutableRawPointer(self) + layout.keyOffset).assumingMemoryBound(to: Key.self)
  }

  @inlinable @inline(__always)
  func value<Key, Value>(of layout: EntryLayout<Key, Value>.Type) -> UnsafeMutablePointer<Value> {
    (UnsafeMutableRawPointer(self) + layout.valueOffset).assumingMemoryBound(to: Value.self)
  }

  /// Written before publication, constant until destruction; only where the cache remembers ages.
  func age<Key, Value>(of layout: EntryLayout<Key, Value>.Type) -> UnsafeMutablePointer<UInt64> {
    (UnsafeMutableRawPointer(self) + layout.ageOffset).assumingMemoryBound(to: UInt64.self)
  }
}
