// SPDX-License-Identifier: Apache-2.0

/// A failure that callers get instead of a load, for a time.
struct RememberedFailure {
  let error: any Error
  /// By the cache's clock, in nanoseconds.
  let until: UInt64
  /// The failures in a row; an absence is none.
  let failures: Int

  func isFresh(at now: UInt64) -> Bool { now < until }

  /// How a failure is remembered; `nil` if it is not. `earlier`: the failures in a row before it.
  init?(_ error: any Error, after earlier: Int, with options: LoadingOptions, at now: UInt64) {
    // These say something of the callers, not of the key.
    if error is CancellationError || error is LoadCycle { return nil }
    let delay: Duration
    if error is NoValue {
      guard let absences = options.absences else { return nil }
      failures = 0
      delay = absences
    } else {
      guard let backoff = options.failures else { return nil }
      failures = earlier + 1
      delay = backoff.delay(afterFailures: failures, chance: .random(in: 0...1))
    }
    self.error = error
    until = now + delay.nanoseconds
  }
}
