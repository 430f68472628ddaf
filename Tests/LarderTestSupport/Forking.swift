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
  // Swift hides fork(), which is right for programs and wrong for this test.
  typealias Fork = @convention(c) () -> pid_t
  let fork = unsafeBitCast(dlsym(nil, "fork"), to: Fork.self)
  let child = fork()
  precondition(child >= 0, "fork failed")
  if child == 0 {
    body()
    _exit(0)
  }
  var status: Int32 = 0
  let end = Clock.now + 300_000_000_000
  while waitpid(child, &status, WNOHANG) == 0 {
    // A signal that the child cannot mask: it may hang with all others blocked.
    if Clock.now > end { kill(child, SIGKILL) }
    sleepBriefly()
  }
  precondition(status == 0, "the child ended with status \(status)")
}
