// SPDX-License-Identifier: Apache-2.0
public import CLarder

/// What lies in an entry of a ``Cache``: key and value as in ``PairLayout``. In caches that
/// remember ages, the entry's number follows. What `RefreshRule` keeps comes last.
///
/// In specialised code everything here folds to constants.
@usableFromInline package enum EntryLayout<Key, Value> {
  @usableFromInline typealias Pair = PairLayout<Key, Value>

  @inlinable package static var keyOffset: Int { Pair.keyOffset }
  @inlinable package static var valueOffset: Int { Pair.valueOffset }
  static var size: Int { Pair.size }
  static var alignment: Int { Pair.alignment }

  static var ageOffset: Int {
    Pair.roundUp(valueOffset + MemoryLayout<Value>.size, MemoryLayout<UInt64>.alignment)
  }

  static func size(withAge: Bool) -> Int {
    withAge ? ageOffset + MemoryLayout<UInt64>.size : size
  }

  /// Whether the layout of a value suggests that it is a single reference, so that what it points
  /// to can be prefetched. Its bits need not be an address.
  @inlinable package static var valueIsReference: Bool { isReference(Value.self) }

  /// How many references of a pair a hit follows: the key's when it compares keys, the value's when
  /// it copies the value.
  @inlinable package static var referencesFollowed: UInt32 {
    (keyRefers ? 1 : 0) + (isReference(Value.self) || Value.self == String.self ? 1 : 0)
  }

  @inlinable static var keyRefers: Bool { isReference(Key.self) || Key.self == String.self }

  package static var references: lrd_references {
    var references = lrd_references()
    // Comparing reads the bytes of a string, copying retains the object that they are in.
    let bytes = StandardLibrary.offsetOfStringBytes
    if let key = reference(in: Key.self, at: keyOffset, skippingInStrings: bytes) {
      references.at.0 = key
      references.count = 1
    }
    if let value = reference(in: Value.self, at: valueOffset, skippingInStrings: 0) {
      if references.count == 0 { references.at.0 = value } else { references.at.1 = value }
      references.count += 1
    }
    return references
  }

  /// The reference that a key or value consists of, or that a string has in its second word unless
  /// it is short enough to lie in there itself.
  private static func reference<Part>(
    in part: Part.Type, at offset: Int, skippingInStrings skip: UInt32
  ) -> lrd_reference? {
    if isReference(part) { return lrd_reference(offset: UInt32(offset), skip: 0) }
    return part == String.self ? lrd_reference(offset: UInt32(offset + 8), skip: skip) : nil
  }

  @inlinable static func isReference<Part>(_ part: Part.Type) -> Bool {
    MemoryLayout<Part>.size == MemoryLayout<UnsafeRawPointer>.size
      && MemoryLayout<Part>.alignment == MemoryLayout<UnsafeRawPointer>.alignment
      && !StandardLibrary.isTrivial(part)
  }
}

extension UnsafeMutablePointer<lrd_entry> {
  @inlinable @inline(__always)
  func key<Key, Value>(of layout: EntryLayout<Key, Value>.Type) -> UnsafeMutablePointer<Key> {
    key(of: PairLayout<Key, Value>.self)
  }

  @inlinable @inline(__always)
  func value<Key, Value>(of layout: EntryLayout<Key, Value>.Type) -> UnsafeMutablePointer<Value> {
    value(of: PairLayout<Key, Value>.self)
  }

  /// Written before publication, constant until destruction. Only in caches that remember ages.
  func age<Key, Value>(of layout: EntryLayout<Key, Value>.Type) -> UnsafeMutablePointer<UInt64> {
    (UnsafeMutableRawPointer(self) + layout.ageOffset).assumingMemoryBound(to: UInt64.self)
  }
}
