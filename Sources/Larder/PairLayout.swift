// SPDX-License-Identifier: Apache-2.0
public import CLarder

/// Where key and value lie in an entry: `[ lrd_entry | key | value ]`, each at its own alignment.
///
/// In specialised code everything here folds to constants.
@usableFromInline enum PairLayout<Key, Value: ~Copyable> {
  @inlinable static var keyOffset: Int {
    roundUp(MemoryLayout<lrd_entry>.size, MemoryLayout<Key>.alignment)
  }

  @inlinable static var valueOffset: Int {
    roundUp(keyOffset + MemoryLayout<Key>.size, MemoryLayout<Value>.alignment)
  }

  static var size: Int { valueOffset + MemoryLayout<Value>.size }

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
  func key<Key, Value: ~Copyable>(
    of layout: PairLayout<Key, Value>.Type
  ) -> UnsafeMutablePointer<Key> {
    (UnsafeMutableRawPointer(self) + layout.keyOffset).assumingMemoryBound(to: Key.self)
  }

  @inlinable @inline(__always)
  func value<Key, Value: ~Copyable>(
    of layout: PairLayout<Key, Value>.Type
  ) -> UnsafeMutablePointer<Value> {
    (UnsafeMutableRawPointer(self) + layout.valueOffset).assumingMemoryBound(to: Value.self)
  }
}
