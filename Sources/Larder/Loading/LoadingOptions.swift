// SPDX-License-Identifier: Apache-2.0

/// How a ``LoadingCache`` loads.
public struct LoadingOptions: Sendable {
  /// Whether a load goes on when all its callers were cancelled. Otherwise it is cancelled, too.
  /// Loads of several keys, gathered ones and refreshes go on in any case.
  public var continuesWithoutCallers: Bool

  /// The most loads at once; 0 for no limit. Others wait their turn, first come first served. Those
  /// that are cancelled before are not run. Loads that a loader asks for do not wait, nor do those
  /// that it comes to wait for: they are part of the load that asks. So is what a `Task { }` of the
  /// loader asks for while the loader runs; in `Task.detached` it waits its turn. Must not be
  /// negative.
  public var loadLimit: Int

  /// How long a failure is remembered; `nil` for not at all.
  public var failures: Backoff?

  /// How long it is remembered that a key has no value, which the loader says by throwing
  /// ``NoValue``; `nil` for not at all. Must be positive. As many are remembered as failures
  /// (``Backoff``). Where more keys are asked for that have no value, store that as a value: an
  /// optional, say.
  public var absences: Duration?

  /// Whether callers of single keys wait a little for others, to be loaded with them in one call of
  /// `loadAll`, which the cache must have; `nil` if not. Such loads go on without their callers. A
  /// caller of many keys waits, too, if one of them waits to be loaded with others. A `loadAll`
  /// that asks the cache for other keys may get a ``LoadCycle``, which says when.
  public var gathering: Gathering?

  /// The age from which a value is loaded anew while it serves; `nil` for none. Must be positive.
  ///
  /// The first lookup through the ``LoadingCache`` that finds a value of that age gets it at once,
  /// and begins a load, as ``LoadingCache/refresh(forKey:)`` does. If that fails, the value serves
  /// until it expires, and a lookup begins the next load when as much time has passed again.
  /// Lookups may take note of the age some two milliseconds late. Values need no lifetime for this.
  /// Values that age together are loaded one by one, and by default all at once; ``gathering``
  /// loads them together, and ``loadLimit`` bounds how many at a time. An entry takes 24 bytes
  /// more, 8 if it can expire anyway.
  public var refreshAfter: Duration?

  /// How long past its deadline a value may serve when its load fails; `nil` for not at all. Must
  /// not be negative.
  ///
  /// Callers of ``LoadingCache/loaded(forKey:)`` are told. The ``LoadingCache/cache`` itself never
  /// returns an expired value, but it keeps it for that time: it counts in ``Cache/count`` and
  /// ``Cache/totalCost``, and ``Cache/removeExpired()`` leaves it. It is evicted like any other. A
  /// removal or an insertion of its key, ``NoValue`` from the loader, ``Cache/removeAll()`` and
  /// ``Cache/removeAll(where:)`` take it out. The latter does so whatever its closure says, which
  /// is not asked about what has expired. Entries have room for deadlines then: 16 bytes.
  public var staleIfError: Duration?

  /// How early values are loaded anew before they expire, as a multiple of the time that their load
  /// took; `nil` for not at all. Must be positive and finite. 1 is a good value; more is earlier.
  ///
  /// Each lookup through the ``LoadingCache`` draws by how much more or less. So the hotter a key
  /// and the slower its load, the earlier it is loaded, and processes that share a source do not
  /// all load at the same moment. At 1 the time before the end is mostly that of its load times the
  /// natural logarithm of the lookups during a load, and never more than 37 times that of its load.
  /// The lookup gets its value at once. This is XFetch, by Vattani, Chierichetti and Lowenstein
  /// (VLDB 2015). Only values that were loaded have a load whose time is known. The end is the one
  /// that uses do not move, as of ``Cache/remainingLifetime(forKey:ifUsed:)``: where only
  /// ``Expiration/afterAccess`` ends a value, it is not loaded early. An entry takes 16 bytes more
  /// if it can expire anyway, otherwise 32.
  public var earlyRefresh: Double?

  /// Takes the place of chance in ``earlyRefresh``, for tests: a number above 0, at most 1.
  package var chance: (@Sendable () -> Double)?

  /// Creates options. By default nothing is remembered, limited, gathered or refreshed.
  public init(
    continuesWithoutCallers: Bool = false, loadLimit: Int = 0, failures: Backoff? = nil,
    absences: Duration? = nil, gathering: Gathering? = nil, refreshAfter: Duration? = nil,
    staleIfError: Duration? = nil, earlyRefresh: Double? = nil
  ) {
    self.continuesWithoutCallers = continuesWithoutCallers
    self.loadLimit = loadLimit
    self.failures = failures
    self.absences = absences
    self.gathering = gathering
    self.refreshAfter = refreshAfter
    self.staleIfError = staleIfError
    self.earlyRefresh = earlyRefresh
  }

  var refreshing: Refreshing? {
    if refreshAfter == nil && earlyRefresh == nil { return nil }
    return Refreshing(after: refreshAfter, beta: earlyRefresh ?? 0, chance: chance)
  }

  /// How long the first caller waits for others.
  public struct Gathering: Sendable {
    /// The most keys to load in one call: they wait for no more, and a lookup of more keys loads
    /// them in several calls. Must be positive.
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
  /// While a failure is remembered, callers get it at once and the loader is not asked. (Tasks that
  /// are cancelled get `CancellationError`.) A load that is given up says nothing of its key: one
  /// that is cancelled, or throws `CancellationError` or ``LoadCycle``. It neither counts as a
  /// failure nor ends the row. Nor do failures of other loaders, which are given to the
  /// ``LoadingCache/cache``. The next caller loads at once. A removal or an insertion of the key
  /// forgets the failure and the row. At most 1,024 failures and absences are remembered in a cache.
  /// The next one takes the place of the oldest in its part of the keys, a sixteenth.
  public struct Backoff: Sendable {
    /// How long the first failure is remembered. Must be positive.
    public var first: Duration
    /// The longest that any failure is remembered. Must not be below `first`.
    public var longest: Duration
    /// The share of each time that is left to chance, so that keys that failed together are not
    /// asked for together: 0.5 takes away up to half. Between 0 and 1.
    public var jitter: Double

    /// Creates a backoff. By default no failure is remembered longer than a minute, or than `first`
    /// if that is longer.
    public init(first: Duration, longest: Duration? = nil, jitter: Double = 0.5) {
      self.first = first
      self.longest = longest ?? max(first, .seconds(60))
      self.jitter = jitter
    }

    /// How long the `count`th failure in a row is remembered. `chance` is between 0 and 1.
    package func delay(afterFailures count: Int, chance: Double) -> Duration {
      var left = count - 1
      let most = min(longest, .longestLifetime)
      var delay = min(first, most)
      while left > 0 && delay < most {
        delay = min(delay * 2, most)
        left -= 1
      }
      return delay * (1 - jitter * chance)
    }
  }

  func check(for place: Place) {
    func check(_ condition: Bool, _ message: StaticString) {
      require(condition, message, file: place.file, line: place.line)
    }
    check(loadLimit >= 0, "loadLimit must not be negative")
    if let absences { check(absences > .zero, "absences must be positive") }
    if let gathering {
      check(gathering.most > 0, "gathering.most must be positive")
      check(gathering.delay >= .zero, "gathering.delay must not be negative")
    }
    if let refreshAfter { check(refreshAfter > .zero, "refreshAfter must be positive") }
    if let staleIfError { check(staleIfError >= .zero, "staleIfError must not be negative") }
    if let earlyRefresh {
      check(!earlyRefresh.isNaN, "earlyRefresh must be a number")
      check(earlyRefresh > 0 && earlyRefresh.isFinite, "earlyRefresh must be positive and finite")
    }
    guard let failures else { return }
    check(failures.first > .zero, "failures.first must be positive")
    check(failures.longest >= failures.first, "failures.longest must not be below failures.first")
    check(failures.jitter >= 0 && failures.jitter <= 1, "failures.jitter must be between 0 and 1")
  }
}

/// What a loader throws to say that a key has no value.
///
/// Every caller gets it as the error of the load. ``LoadingOptions/absences`` tells how long it is
/// remembered.
public struct NoValue: Error, Hashable {
  public init() {}
}
