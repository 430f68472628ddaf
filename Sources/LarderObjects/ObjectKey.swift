// SPDX-License-Identifier: Apache-2.0

/// A key object, and what makes it equal to others. It takes two words, so neither a lookup nor an
/// entry needs another object. The key is retained, not copied.
struct ObjectKey: Hashable, @unchecked Sendable {
  // Sendable because `Cache` asks for it. Whether the objects may cross threads is for those to
  // decide who share an `ObjectCache`, which is not Sendable itself.

  let object: AnyObject
  /// Not retained: it lives at least as long as the cache that is searched.
  private let equivalence: Unmanaged<KeyEquivalence>

  @inline(__always)
  init(_ object: AnyObject, _ equivalence: Unmanaged<KeyEquivalence>) {
    self.object = object
    self.equivalence = equivalence
  }

  static func == (left: ObjectKey, right: ObjectKey) -> Bool {
    if left.object === right.object { return true }
    guard left.equivalence.toOpaque() == right.equivalence.toOpaque() else { return false }
    return left.equivalence._withUnsafeGuaranteedRef { $0.areEqual(left.object, right.object) }
  }

  func hash(into hasher: inout Hasher) { hasher.combine(hash(seed: 0)) }

  private func hash(seed: Int) -> Int {
    equivalence._withUnsafeGuaranteedRef { $0.hash(object, seed: seed) }
  }

  #if !LARDER_DOCUMENTED
    /// What the cache's own hashing calls; see ``StandardLibrary``. It bypasses `Hasher`: an
    /// object's `hash` is already a hash, and other kinds of keys have a way of their own here.
    func _rawHashValue(seed: Int) -> Int { hash(seed: seed) }
  #endif
}
