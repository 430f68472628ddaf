// SPDX-License-Identifier: Apache-2.0

/// What the library takes from the standard library beyond its documentation: three things, which
/// make it faster. With `-D LARDER_DOCUMENTED` it takes the documented way instead, and does the
/// same. StandardLibraryTests notices when one of the three no longer is what it was.
@usableFromInline package enum StandardLibrary {
  /// A hash of `key` by `Hasher`, whose own seed belongs to the process, and by `seed`.
  ///
  /// `_rawHashValue(seed:)` is the entry point that `Dictionary` uses. The library's own types
  /// answer this single call without setting up a streaming `Hasher`.
  @inlinable @inline(__always)
  package static func hash<Key: Hashable>(_ key: Key, seed: Int) -> Int {
    #if LARDER_DOCUMENTED
      var hasher = Hasher()
      hasher.combine(seed)
      hasher.combine(key)
      return hasher.finalize()
    #else
      key._rawHashValue(seed: seed)
    #endif
  }

  /// Whether the values of a type of one word count no references. Only a hint where to prefetch:
  /// with the documented way, structures of one reference count as such values.
  @inlinable @inline(__always)
  package static func isTrivial<Value>(_ type: Value.Type) -> Bool {
    #if LARDER_DOCUMENTED
      !(type is AnyObject.Type)
    #else
      _isPOD(type)
    #endif
  }

  /// Where the bytes of a long string begin in the object that its second word refers to. Only a
  /// hint where to prefetch: 0 fetches the object's header.
  package static var offsetOfStringBytes: UInt32 {
    #if LARDER_DOCUMENTED
      0
    #else
      32
    #endif
  }
}
