// SPDX-License-Identifier: Apache-2.0

/// A value of an ``ObjectCache``: one word, retained once while it is stored. Whether the object is
/// discardable is found out when it is stored, so that hits on other objects need not ask.
enum StoredObject: @unchecked Sendable {
  // Sendable: as ObjectKey.

  case plain(AnyObject)
  case discardable(AnyObject)

  init(_ object: AnyObject) {
    self = discardableContent(object) == nil ? .plain(object) : .discardable(object)
  }

  var object: AnyObject {
    switch self {
    case .plain(let object), .discardable(let object): object
    }
  }

  var isDiscardable: Bool { if case .discardable = self { true } else { false } }

  /// Discards the content of an object that is leaving.
  func discardIfPossible() {
    if case .discardable(let object) = self {
      discardableContent(object)?.discardContentIfPossible()
    }
  }
}
