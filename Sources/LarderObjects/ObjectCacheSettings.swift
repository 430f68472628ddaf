// SPDX-License-Identifier: Apache-2.0
import Larder

/// The settings of an ``ObjectCache`` that the core does not know. Any thread may read and write
/// them, and so may a forked child.
final class ObjectCacheSettings: Sendable {
  private struct Settings {
    var name = ""
    var evictsDiscarded = true
    weak var delegate: (any ObjectCacheDelegate)?
  }

  /// Only references are copied under the lock.
  private let settings = Guarded(Settings())

  var name: String {
    get { settings.withLock { $0.name } }
    set {
      var name = newValue
      // The old name is released outside the lock.
      settings.withLock { swap(&$0.name, &name) }
    }
  }

  var evictsDiscarded: Bool {
    get { settings.withLock { $0.evictsDiscarded } }
    set { settings.withLock { $0.evictsDiscarded = newValue } }
  }

  var delegate: (any ObjectCacheDelegate)? {
    get { settings.withLock { $0.delegate } }
    set { settings.withLock { $0.delegate = newValue } }
  }
}
