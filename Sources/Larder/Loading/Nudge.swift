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
/// To cancel or escalate a task runs the handlers of whatever it waits in, on the calling thread,
/// and the task goes on from none of them until all have returned. One of these may be that of a
/// load which waits for another, and nudge the task of that one in turn. Inside the first nudge it
/// would take as much stack as loads are nested, and the load that waits would go on only after the
/// handlers of the other. So a thread gives it once it is out of the first. Any other cancellation
/// has been given when the call returns, up to a depth that keeps the stack small: a handler may
/// wait for what it has cancelled.
enum Nudge {
  case cancel(Task<Void, Never>)
  /// Run at this priority, or a higher one.
  case hurry(Task<Void, Never>, to: TaskPriority)

  /// Where a thread that gives nudges has its innermost `Giving`. `nil` if the process has no room
  /// for it: then nudges are given inside each other.
  private static let innermost: pthread_key_t? = {
    var key = pthread_key_t()
    return pthread_key_create(&key, nil) == 0 ? key : nil
  }()

  private static let depthLimit = 16

  /// A nudge that is being given on this thread, and those that follow it.
  private struct Giving {
    let outer: UnsafeMutablePointer<Giving>?
    let depth: Int
    var load: AnyFlight
    var following: [(nudge: Nudge, load: AnyFlight)] = []
  }

  /// Nudges the task of `load`, on behalf of the load that waits for it, if any.
  func give(to load: AnyFlight, for asking: LoadNode?) {
    guard let key = Self.innermost else { return take() }
    let outer = pthread_getspecific(key)?.assumingMemoryBound(to: Giving.self)
    let depth = (outer?.pointee.depth ?? 0) + 1
    if let first = giving(to: asking, from: outer) ?? (depth > Self.depthLimit ? outer : nil) {
      return first.pointee.following.append((self, load))
    }
    var giving = Giving(outer: outer, depth: depth, load: load)
    withUnsafeMutablePointer(to: &giving) { giving in
      pthread_setspecific(key, giving)
      take()
      while let next = giving.pointee.following.popLast() {
        giving.pointee.load = next.load
        next.nudge.take()
      }
      pthread_setspecific(key, outer)
    }
  }

  /// The nudge after which this one is given. Nobody waits for an escalation.
  private func giving(
    to asking: LoadNode?, from innermost: UnsafeMutablePointer<Giving>?
  ) -> UnsafeMutablePointer<Giving>? {
    if case .hurry = self { return innermost }
    var giving = innermost
    while let one = giving, one.pointee.load !== asking { giving = one.pointee.outer }
    return giving
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
