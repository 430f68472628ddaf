// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// State under a plain POSIX mutex: nothing here shares code with the locks under test.
public final class Protected<State>: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private var state: State  // guarded by `mutex`

  public init(_ state: State) {
    self.state = state
    precondition(pthread_mutex_init(mutex, nil) == 0, "no mutex")
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  public func withLock<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&state)
  }
}
