// SPDX-License-Identifier: Apache-2.0
import Synchronization

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A POSIX thread, so that tests use real threads with real thread exits, never a shared pool.
public struct RealThread: ~Copyable {
  #if canImport(Glibc)
    private let handle: pthread_t
  #else
    private let handle: pthread_t?
  #endif

  private final class Body {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  /// `stack`: its size in bytes; `nil` for what the system gives.
  public init(stack: Int? = nil, _ body: @escaping @Sendable () -> Void) {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    if let stack { pthread_attr_setstacksize(&attributes, stack) }
    let box = Unmanaged.passRetained(Body(body)).toOpaque()
    #if canImport(Glibc)
      var thread = pthread_t()
      let status = pthread_create(&thread, &attributes, { Self.main($0!) }, box)
    #else
      var thread: pthread_t?
      let status = pthread_create(&thread, &attributes, { Self.main($0) }, box)
    #endif
    precondition(status == 0, "pthread_create failed: \(status)")
    handle = thread
  }

  private static func main(_ box: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    Unmanaged<Body>.fromOpaque(box).takeRetainedValue().run()
    return nil
  }

  /// Lets the thread go. It ends on its own.
  public consuming func detach() {
    #if canImport(Glibc)
      pthread_detach(handle)
    #else
      pthread_detach(handle!)
    #endif
  }

  /// Returns once the thread has ended, its exit handlers included.
  public consuming func join() {
    #if canImport(Glibc)
      pthread_join(handle, nil)
    #else
      pthread_join(handle!, nil)
    #endif
  }
}

/// Runs `body` on `count` new threads that start together. Returns when all have ended.
///
/// A run that is still going after `deadline` seconds ends the process with a message: a hang is a
/// failure, and blocked threads cannot be cancelled.
public func onThreads(
  _ count: Int, deadline: Int = 300, _ body: @escaping @Sendable (_ index: Int) -> Void
) {
  let gate = Gate(waitingFor: count)
  for index in 0..<count {
    let own = Protected<(@Sendable (_ index: Int) -> Void)?>(body)
    let thread = RealThread {
      gate.arrive()
      while !gate.isOpen { sched_yield() }
      runOnce(own, index)
      gate.leave()
    }
    thread.detach()
  }
  waitUntil(deadline: deadline, "threads still running") { gate.isEmpty }
}

/// Runs a body and gives it up: a thread that has left its gate may end late, and must not keep alive
/// what the body holds.
private func runOnce(_ body: Protected<(@Sendable (_ index: Int) -> Void)?>, _ index: Int) {
  let own = body.withLock { body in
    defer { body = nil }
    return body
  }
  own?(index)
}

/// Polls `condition` until it holds. After `deadline` seconds ends the process with `what`.
public func waitUntil(deadline: Int = 300, _ what: String, _ condition: () -> Bool) {
  let end = Clock.now + UInt64(deadline) * 1_000_000_000
  while !condition() {
    if Clock.now > end { fatalError("deadline of \(deadline) s passed: \(what)") }
    sleepBriefly()
  }
}

/// Lets other threads run for half a millisecond.
public func sleepBriefly() { usleep(500) }

/// The monotonic clock in nanoseconds. Reading it drains no store buffer, so time stamps around an
/// operation do not hide a missing fence inside it.
public enum Clock {
  public static var now: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}

/// A gate that opens when all have arrived, and is empty when all have left.
private final class Gate: Sendable {
  private let outside: Atomic<Int>
  private let inside: Atomic<Int>

  init(waitingFor count: Int) {
    outside = Atomic(count)
    inside = Atomic(count)
  }

  func arrive() { outside.subtract(1, ordering: .acquiringAndReleasing) }
  func leave() { inside.subtract(1, ordering: .acquiringAndReleasing) }
  var isOpen: Bool { outside.load(ordering: .acquiring) == 0 }
  var isEmpty: Bool { inside.load(ordering: .acquiring) == 0 }
}
