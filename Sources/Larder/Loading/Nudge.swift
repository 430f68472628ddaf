// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// What the task of a load is told from outside.
///
/// To cancel or escalate a task runs the handlers of whatever it waits in, on the calling thread.
/// One of these may be that of a load's caller, and nudge the task of that load in turn. One inside
/// the other, they would take as much stack as loads are nested. So each thread gives one nudge at
/// a time: those that handlers add are given once the one under way is.
enum Nudge {
  case cancel(Task<Void, Never>)
  /// Run at this priority, or a higher one.
  case hurry(Task<Void, Never>, to: TaskPriority)

  /// Where a thread that gives a nudge has the list of those to follow. `nil` if the process has no
  /// room for it: then nudges are given inside each other.
  private static let following: pthread_key_t? = {
    var key = pthread_key_t()
    return pthread_key_create(&key, nil) == 0 ? key : nil
  }()

  func give() {
    guard let key = Self.following else { return take() }
    if let following = pthread_getspecific(key) {
      return following.assumingMemoryBound(to: [Nudge].self).pointee.append(self)
    }
    var following: [Nudge] = []
    withUnsafeMutablePointer(to: &following) { following in
      pthread_setspecific(key, following)
      take()
      while let next = following.pointee.popLast() { next.take() }
      pthread_setspecific(key, nil)
    }
  }

  private func take() {
    switch self {
    case .cancel(let task): task.cancel()
    case .hurry(let task, let priority):
      if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
        task.escalatePriority(to: priority)
      }
    }
  }
}
