// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Forks, runs `body` in the child, and ends the process unless the child ends well within a
/// minute.
///
/// If other threads run Swift meanwhile, do whatever `body` does once before they start. The first
/// use of a generic type takes a lock of the Swift runtime, and fork() leaves that lock held in the
/// child if another thread has it.
public func expectChildSuccess(_ body: () -> Void) {
  fork {
    body()
    _exit(0)
  }
}

/// The same with `body` on a new thread of the child. The calling thread returns there, too.
public func expectReturningChildSuccess(_ body: @escaping @Sendable () -> Void) {
  fork {
    RealThread {
      body()
      _exit(0)
    }.detach()
  }
}

private func fork(_ child: () -> Void) {
  // Swift hides fork(), which is right for programs and wrong for this test.
  typealias Fork = @convention(c) () -> pid_t
  let fork = unsafeBitCast(dlsym(nil, "fork"), to: Fork.self)
  let process = fork()
  precondition(process >= 0, "fork failed")
  if process == 0 { return child() }
  var status: Int32 = 0
  let end = Clock.now + 300_000_000_000
  while waitpid(process, &status, WNOHANG) == 0 {
    // A signal that the child cannot mask: it may hang with all others blocked.
    if Clock.now > end { kill(process, SIGKILL) }
    sleepBriefly()
  }
  precondition(status == 0, "the child ended with status \(status)")
}
