// SPDX-License-Identifier: Apache-2.0

/// A key object with what makes it equal to others: two words, so that neither a lookup nor an
/// entry needs an object of its own. The key is retained, not copied.
struct ObjectKey: Hashable, @unchecked Sendable {
  // Sendable: the cache asks for it; that objects cross threads is the business of those who share
  // an `ObjectCache`, which is not Sendable itself.

  let object: AnyObject
  /// Not retained: it lives as long as the cache that is searched, or longer.
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

  func hash(into hasher: inout Hasher) { hasher.combine(_rawHashValue(seed: 0)) }

  /// What the cache's own hashing calls. Goes past `Hasher`, because an object's `hash` is a hash
  /// already, and those that are not have a way of their own here.
  func _rawHashValue(seed: Int) -> Int {
    equivalence._withUnsafeGuaranteedRef { $0.hash(object, seed: seed) }
  }
}
