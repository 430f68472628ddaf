// SPDX-License-Identifier: Apache-2.0
import Larder

/// One call on a cache whose entries expire, or on its clock. Times are in seconds.
public enum TimedOperation: Sendable, Hashable {
  case plain(Operation)
  case insert(Int, cost: Int, expiresAfter: Int)
  case setLifetime(Int, Int)
  case remainingLifetime(Int)
  case trimToAge(Int)
  case setRule(afterWrite: Int?, afterAccess: Int?)
  case removeExpired
  case advance(Int)
}

/// A model of a cache whose entries expire: each entry has the moments of its writing and of its
/// last use, and is gone as soon as its time is over.
public struct TimedModel {
  private struct Times {
    var written: Int
    var used: Int
    var own: Int?
  }

  public private(set) var cache: ModelCache
  private var times: [Int: Times] = [:]
  private var now = 0
  private var afterWrite: Int?
  private var afterAccess: Int?
  /// The removals of the last step.
  public private(set) var removals: [Removal] = []

  public init(
    countLimit: Int, costLimit: Int, policy: EvictionPolicy, afterWrite: Int?, afterAccess: Int?
  ) {
    cache = ModelCache(countLimit: countLimit, costLimit: costLimit, policy: policy)
    (self.afterWrite, self.afterAccess) = (afterWrite, afterAccess)
  }

  public mutating func apply(_ operation: TimedOperation, payload: Int) -> Answer {
    removals = []
    var answer = Answer.nothing
    switch operation {
    case .plain(let operation):
      answer = apply(operation, payload: payload)
    case .insert(let key, let cost, let lifetime):
      if lifetime > 0 || cost > cache.costLimit && cache.costLimit > 0 {
        answer = apply(.insert(key, cost: cost), payload: payload)
        times[key]?.own = lifetime
      } else {
        leave(key, .removed)
        answer = .insertion(.expired)
      }
    case .setLifetime(let key, let lifetime):
      answer = .flag(times[key] != nil)
      if times[key] != nil { times[key] = Times(written: now, used: now, own: lifetime) }
    case .remainingLifetime(let key):
      answer = .value(times[key].flatMap(deadline).map { $0 - now })
    case .trimToAge(let age):
      for (key, times) in times where now - times.written > age { leave(key, .trimmed) }
    case .setRule(let afterWrite, let afterAccess):
      // Nobody knows when an entry was used that would not expire by that. Then it was now.
      for key in times.keys where !ends(times[key]!).isByUse { times[key]!.used = now }
      (self.afterWrite, self.afterAccess) = (afterWrite, afterAccess)
    case .removeExpired: break
    case .advance(let time): now += time
    }
    for (key, times) in times where deadline(times) ?? .max <= now { leave(key, .expired) }
    return answer
  }

  private mutating func apply(_ operation: Operation, payload: Int) -> Answer {
    let before = times
    let answer = cache.apply(operation, payload: payload)
    removals += cache.removals
    let stored = Set(cache.entries.map(\.key))
    times = times.filter { stored.contains($0.key) }
    for key in operation.keys where stored.contains(key) {
      switch operation {
      case .insert, .update, .setBySubscript:
        times[key] = Times(written: now, used: now)
      case .get, .getBySubscript, .lend, .getMany:
        if before[key] != nil { times[key]?.used = now }
      default: break
      }
    }
    return answer
  }

  private mutating func leave(_ key: Int, _ cause: RemovalCause) {
    times[key] = nil
    let before = cache.removals.count
    cache.leave(key, cause)
    removals += cache.removals[before...]
  }

  /// The earlier of an entry's deadlines, `.max` if it never expires, and whether it is that by its
  /// last use.
  private func ends(_ times: Times) -> (at: Int, isByUse: Bool) {
    let write = (times.own ?? afterWrite).map { times.written + $0 } ?? .max
    guard let afterAccess, times.used + afterAccess <= write else { return (write, false) }
    return (times.used + afterAccess, true)
  }

  private func deadline(_ times: Times) -> Int? {
    let end = ends(times).at
    return end == .max ? nil : end
  }
}

extension CacheDriver {
  /// Applies an operation to the cache and its clock.
  public func apply(
    _ operation: TimedOperation, payload: Int, _ clock: ManualClock
  ) -> Answer {
    switch operation {
    case .plain(let operation): return apply(operation, payload: payload)
    case .insert(let id, let cost, let lifetime):
      return .insertion(
        cache.insert(
          tracker.make(payload), forKey: key(id), cost: cost, expiresAfter: .seconds(lifetime)))
    case .setLifetime(let id, let lifetime):
      return .flag(cache.setLifetime(.seconds(lifetime), forKey: key(id)))
    case .remainingLifetime(let id):
      // Whole seconds: the core may answer too little by a few milliseconds.
      let rest = cache.remainingLifetime(forKey: key(id)).map { $0 + .milliseconds(500) }
      return .value(rest.map { Int($0.components.seconds) })
    case .trimToAge(let age): cache.trim(toAge: .seconds(age) + .milliseconds(500))
    case .setRule(let afterWrite, let afterAccess):
      cache.expiration = Expiration(afterWrite: afterWrite, afterAccess: afterAccess)
    case .removeExpired: cache.removeExpired()
    case .advance(let time): clock.advance(by: .seconds(time))
    }
    return .nothing
  }
}

extension Expiration {
  /// A rule in seconds. The idle time is a little shorter, so that it is clear which of two
  /// deadlines in one second counts.
  public init(afterWrite: Int?, afterAccess: Int?) {
    self.init(
      afterWrite: afterWrite.map { .seconds($0) },
      afterAccess: afterAccess.map { .seconds($0) - .milliseconds(250) })
  }
}
