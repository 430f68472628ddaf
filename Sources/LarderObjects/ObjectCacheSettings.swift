// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The settings of an ``ObjectCache`` that the core does not know, for any thread to read and
/// write.
final class ObjectCacheSettings: @unchecked Sendable {
  // Sendable: `lock` guards the variables. It is a leaf; only references are copied under it.

  private let lock = NSLock()
  private var storedName = ""
  private var storedEvictsDiscarded = true
  private weak var storedDelegate: (any ObjectCacheDelegate)?

  var name: String {
    get { lock.withLock { storedName } }
    set {
      var name = newValue
      // The old one is released outside.
      lock.withLock { swap(&storedName, &name) }
    }
  }

  var evictsDiscarded: Bool {
    get { lock.withLock { storedEvictsDiscarded } }
    set { lock.withLock { storedEvictsDiscarded = newValue } }
  }

  var delegate: (any ObjectCacheDelegate)? {
    get { lock.withLock { storedDelegate } }
    set { lock.withLock { storedDelegate = newValue } }
  }
}
