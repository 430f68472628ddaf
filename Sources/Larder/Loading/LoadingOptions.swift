// SPDX-License-Identifier: Apache-2.0

/// How a ``LoadingCache`` loads.
public struct LoadingOptions: Sendable {
  /// Whether a load goes on when all its callers were cancelled. Otherwise it is cancelled, too.
  public var continuesWithoutCallers: Bool

  /// The most loads at once; 0 for no limit. Others wait their turn, first come first served. Loads
  /// that a loader asks for do not wait: they are part of the load that asks. Must not be negative.
  public var loadLimit: Int

  /// How long a failure is remembered; `nil` for not at all.
  public var failures: Backoff?

  /// How long it is remembered that a key has no value, which the loader says by throwing
  /// ``NoValue``; `nil` for not at all. Must be positive.
  public var absences: Duration?

  /// Whether callers of single keys wait a little for others, to be loaded with them in one call of
  /// `loadAll`, which the cache must have; `nil` if not. Such loads go on without their callers.
  public var gathering: Gathering?

  /// Creates options. By default nothing is remembered, limited or gathered.
  public init(
    continuesWithoutCallers: Bool = false, loadLimit: Int = 0, failures: Backoff? = nil,
    absences: Duration? = nil, gathering: Gathering? = nil
  ) {
    self.continuesWithoutCallers = continuesWithoutCallers
    self.loadLimit = loadLimit
    self.failures = failures
    self.absences = absences
    self.gathering = gathering
  }

  /// How long the first caller waits for others.
  public struct Gathering: Sendable {
    /// The most keys to load in one call: they wait for no more. Must be positive.
    public var most: Int
    /// How long the first one waits; zero for a turn of the tasks that are ready to run. Must not
    /// be negative.
    public var delay: Duration

    /// Creates a window.
    public init(most: Int = 100, delay: Duration = .zero) {
      self.most = most
      self.delay = delay
    }
  }

  /// How long failures are remembered: twice as long after each failure in a row.
  ///
  /// While a failure is remembered, callers get it at once and the loader is not asked. A removal
  /// or an insertion of the key forgets it. At most 1,024 keys are remembered; those that failed
  /// longest ago are forgotten first.
  public struct Backoff: Sendable {
    /// How long the first failure is remembered. Must be positive.
    public var first: Duration
    /// The longest that any failure is remembered. Must not be below `first`.
    public var longest: Duration
    /// The share of each time that is left to chance, so that keys that failed together are not
    /// asked for together: 0.5 takes away up to half. Between 0 and 1.
    public var jitter: Double

    /// Creates a backoff.
    public init(first: Duration, longest: Duration = .seconds(60), jitter: Double = 0.5) {
      self.first = first
      self.longest = longest
      self.jitter = jitter
    }

    /// How long the `count`th failure in a row is remembered. `chance` is between 0 and 1.
    package func delay(afterFailures count: Int, chance: Double) -> Duration {
      var delay = first
      var left = count - 1
      while left > 0 && delay < longest {
        delay *= 2
        left -= 1
      }
      return min(delay, longest) * (1 - jitter * chance)
    }
  }

  func check(for place: Place) {
    func check(_ condition: Bool, _ message: StaticString) {
      require(condition, message, file: place.file, line: place.line)
    }
    check(loadLimit >= 0, "loadLimit must not be negative")
    if let absences { check(absences > .zero, "absences must be positive") }
    if let gathering {
      check(gathering.most > 0, "most must be positive")
      check(gathering.delay >= .zero, "delay must not be negative")
    }
    guard let failures else { return }
    check(failures.first > .zero, "a backoff must be positive")
    check(failures.longest >= failures.first, "a backoff's longest must not be below its first")
    check(failures.jitter >= 0 && failures.jitter <= 1, "jitter must be between 0 and 1")
  }
}

/// What a loader throws to say that a key has no value.
///
/// Every caller gets it as the error of the load. ``LoadingOptions/absences`` tells how long it is
/// remembered.
public struct NoValue: Error, Hashable {
  public init() {}
}

/// A failure that callers get instead of a load, for a time.
struct RememberedFailure {
  let error: any Error
  let until: ContinuousClock.Instant
  /// The failures in a row; an absence is none.
  let failures: Int

  var isFresh: Bool { ContinuousClock.now < until }

  /// How a failure is remembered; `nil` if it is not. `earlier`: the failures in a row before it.
  init?(_ error: any Error, after earlier: Int, with options: LoadingOptions) {
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
    until = .now + delay
  }
}

/// Under the stripe's lock.
extension Flights.Stripe {
  /// The most remembered failures of a stripe.
  private static var rememberedMost: Int { 1_024 / 16 }

  /// Keeps a flight whose failure is remembered. Returns one that is forgotten for it.
  mutating func remember(_ flight: Flight<Key, Value>) -> Flight<Key, Value>? {
    remembered.append(flight)
    guard remembered.count > Self.rememberedMost else { return nil }
    let oldest = remembered.removeFirst()
    guard contains(oldest) else { return nil }
    remove(oldest)
    return oldest
  }
}
