// SPDX-License-Identifier: Apache-2.0

public import CLarder

/// The hash of strings, equal for canonically equal strings, and their comparison.
///
/// An ASCII string is hashed by its bytes. A string with other scalars can still be equal to an
/// ASCII string, because three scalars decompose canonically to a single ASCII scalar:
///
///     U+037E GREEK QUESTION MARK == ";"   U+1FEF GREEK VARIA == "`"   U+212A KELVIN SIGN == "K"
///
/// A string is equal to an ASCII string exactly when each of its scalars is ASCII or one of these
/// three. For equality compares full decompositions up to the order of marks, decompositions are
/// taken scalar by scalar, and an ASCII string is its own decomposition. Such a string is hashed as
/// its ASCII image. Every other string is hashed by `Hasher`, which normalises it, and may allocate
/// to do so if the text is not in NFC. The tests check the three scalars against all others.
@usableFromInline package enum StringHashing {
  /// The hash of any string. Only ASCII is handled in line.
  @inlinable @inline(__always)
  static func hash(_ string: String, _ seed0: UInt64, _ seed1: UInt64) -> UInt64 {
    let run = string.utf8.withContiguousStorageIfAvailable {
      lrd_hash_bytes($0.baseAddress, $0.count, seed0, seed1)
    }
    if let run, lrd_hash_is_ascii(run) { return run.hash }
    return hashOther(string, seed0, seed1)
  }

  /// Whether a stored string equals another one of the same hash. It nearly always does, and mostly
  /// has the same bytes. Takes the stored string by its address, because a copy would be retained.
  @usableFromInline @inline(never)
  static func isEqual(_ stored: UnsafePointer<String>, _ other: String) -> Bool {
    let haveSameBytes = stored.pointee.utf8.withContiguousStorageIfAvailable { a in
      other.utf8.withContiguousStorageIfAvailable { b in
        a.count == b.count && (a.isEmpty || lrd_same_bytes(a.baseAddress!, b.baseAddress!, a.count))
      }
    }
    return (haveSameBytes ?? nil) == true || stored.pointee == other
  }

  /// The hash of a string that is not ASCII, or whose UTF-8 is not in memory (a bridged string).
  @usableFromInline @inline(never)
  static func hashOther(_ string: String, _ seed0: UInt64, _ seed1: UInt64) -> UInt64 {
    if let hash = hashOfImage(string, seed0, seed1) { return hash }
    return KeyHasher.hashBySip(string, seed0, seed1)
  }

  /// The hash of the ASCII string equal to `string`, or `nil` if there is none.
  ///
  /// A bridged string comes here too and may be ASCII, so images must hash as `hash` does. The
  /// image is built on the stack if there is room.
  private static func hashOfImage(
    _ string: String, _ seed0: UInt64, _ seed1: UInt64
  ) -> UInt64? {
    guard mayHaveImage(string.utf8),
      string.unicodeScalars.allSatisfy({ asciiImage(of: $0) != nil })
    else { return nil }
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: string.utf8.count) { image in
      var count = 0
      for byte in string.unicodeScalars.lazy.compactMap(asciiImage) {
        image[count] = byte
        count += 1
      }
      return lrd_hash_bytes(image.baseAddress, count, seed0, seed1).hash
    }
  }

  /// Whether the first byte beyond ASCII, if any, begins one of the three scalars. This rules out
  /// most text at once.
  private static func mayHaveImage(_ utf8: String.UTF8View) -> Bool {
    let first = utf8.withContiguousStorageIfAvailable { $0.first { $0 >= 0x80 } }
    guard let lead = first ?? nil else { return true }
    return lead == 0xCD || lead == 0xE1 || lead == 0xE2
  }

  /// The ASCII scalar that `scalar` is or decomposes to, or `nil`.
  package static func asciiImage(of scalar: Unicode.Scalar) -> UInt8? {
    switch scalar.value {
    case 0..<0x80: UInt8(scalar.value)
    case 0x037E: UInt8(ascii: ";")
    case 0x1FEF: UInt8(ascii: "`")
    case 0x212A: UInt8(ascii: "K")
    default: nil
    }
  }
}
