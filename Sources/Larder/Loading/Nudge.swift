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
/// the other, they would take as much stack as loads are nested. So a thread gives those beyond a
/// depth one after the other, once it is out of the rest. Up to that depth a nudge has been given
/// when the call returns: a handler may wait for what it has cancelled.
enum Nudge {
  case cancel(Task<Void, Never>)
  /// Run at this priority, or a higher one.
  case hurry(Task<Void, Never>, to: TaskPriority)

  /// Where a thread that gives a nudge has its `Giving`. `nil` if the process has no
  /// room for it: then nudges are given inside each other.
  private static let following: pthread_key_t? = {
    var key = pthread_key_t()
    return pthread_key_create(&key, nil) == 0 ? key : nil
  }()

  private static let depthLimit = 16

  private struct Giving {
    var depth = 1
    var following: [Nudge] = []
  }

  func give() {
    guard let key = Self.following else { return take() }
    if let outer = pthread_getspecific(key)?.assumingMemoryBound(to: Giving.self) {
      if outer.pointee.depth >= Self.depthLimit { return outer.pointee.following.append(self) }
      outer.pointee.depth += 1
      take()
      outer.pointee.depth -= 1
      return
    }
    var giving = Giving()
    withUnsafeMutablePointer(to: &giving) { giving in
      pthread_setspecific(key, giving)
      take()
      while let next = giving.pointee.following.popLast() { next.take() }
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
