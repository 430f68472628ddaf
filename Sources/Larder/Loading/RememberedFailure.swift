// SPDX-License-Identifier: Apache-2.0

/// A failure that callers get instead of a load, for a time. Afterwards it is only a count of
/// failures in a row, which the next load takes over.
struct RememberedFailure {
  let error: any Error
  /// By the cache's clock, in nanoseconds.
  let until: UInt64
  /// The failures in a row; an absence is none.
  let failures: Int

  func isFresh(at now: UInt64) -> Bool { now < until }
}

extension RememberedFailure {
  /// How a failure is remembered; `nil` if it is not. `earlier`: the failures in a row before it.
  init?(_ error: any Error, after earlier: Int, with options: LoadingOptions, at now: UInt64) {
    // These say something of the callers, not of the key.
    let isGivenUp = error is CancellationError || error is LoadCycle
    if error is NoValue {
      guard let absences = options.absences else { return nil }
      self.init(error: error, until: now + absences.nanoseconds, failures: 0)
    } else if !isGivenUp, let backoff = options.failures {
      let delay = backoff.delay(afterFailures: earlier + 1, chance: .random(in: 0...1))
      self.init(error: error, until: now + delay.nanoseconds, failures: earlier + 1)
    } else {
      self.init(keeping: earlier)
    }
  }

  /// What remains of the failures in a row before a load that says nothing of the key; `nil` if
  /// there were none. Its time is over: nobody gets the error.
  init?(keeping failures: Int) {
    if failures == 0 { return nil }
    self.init(error: CancellationError(), until: 0, failures: failures)
  }
}
