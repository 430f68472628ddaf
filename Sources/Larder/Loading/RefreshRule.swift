// SPDX-License-Identifier: Apache-2.0
public import CLarder

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// What a ``LoadingCache`` asks of its cache to load values anew while they serve.
struct Refreshing: Sendable {
  /// The age; `nil` for none.
  let after: Duration?
  /// The factor of early refreshes; 0 for none.
  let beta: Double
  /// Takes the place of chance in tests: a number above 0, at most 1.
  let chance: (@Sendable () -> Double)?
}

/// When the values of a cache are loaded anew although they serve: a few words in each entry, see
/// `lrd_refresh.h`, which hits look at.
///
/// **By age.** The hit that finds an entry older than `after` claims the load. The next one can
/// claim it as much later again. So a source that fails is asked once in that time for each key, at
/// most, and a load that nobody ends (in the child of a `fork()`) is taken over.
///
/// **Early**, after Vattani, Chierichetti and Lowenstein, "Optimal Probabilistic Cache Stampede
/// Prevention", PVLDB 8(8), 2015: a hit takes the value for expired `time * beta * -ln(chance)`
/// before its deadline, where `time` is what its load took. So the slower the load and the nearer
/// the deadline, the more likely a load is, and no two processes do it at the same moment. One
/// early load for each value: if it fails, the deadline decides. The deadline is the one that uses
/// do not move: a value that is used would not expire at the other.
///
/// Plain numbers: a hit that copied a reference would count it, which is a write that all threads
/// share.
@usableFromInline struct RefreshRule: Sendable {
  /// The age in ticks.
  @usableFromInline let after: UInt64
  @usableFromInline let beta: Double
  /// Where the words are in an entry, and where they end.
  @usableFromInline let offset: Int
  let end: Int

  /// `size`: where the words can begin.
  init(_ refreshing: Refreshing, after size: Int) {
    after = lrd_ticks_of(refreshing.after?.lifetime ?? .max)
    beta = refreshing.beta
    offset = PairLayout<Never, Never>.roundUp(size, MemoryLayout<UInt64>.alignment)
    end = offset + (beta > 0 ? 2 : 1) * MemoryLayout<UInt64>.size
  }

  @inlinable @inline(__always)
  func words(of entry: UnsafeMutablePointer<lrd_entry>) -> UnsafeMutableRawPointer {
    UnsafeMutableRawPointer(entry) + offset
  }

  /// Sets the words of an entry that is about to be published.
  func open(
    _ entry: UnsafeMutablePointer<lrd_entry>, _ core: OpaquePointer, loadTime: UInt64
  ) {
    let now = lrd_tick_at(lrd_cache_now(core))
    // A load too short for a tick has no time: there is nothing to gain.
    lrd_refresh_open(words(of: entry), now + after, beta > 0, lrd_tick_at(loadTime))
  }

  /// Sets the words of a copy to those of an entry.
  func copy(
    _ entry: UnsafeMutablePointer<lrd_entry>, to copy: UnsafeMutablePointer<lrd_entry>
  ) {
    lrd_refresh_copy(words(of: copy), words(of: entry), beta > 0)
  }
}

extension Cache {
  /// Whether the caller, who has a living entry on loan or locked, is the one to load its value
  /// anew.
  @inlinable @inline(__always)
  func claims(
    _ entry: UnsafeMutablePointer<lrd_entry>, by rule: RefreshRule, at now: UInt64
  ) -> Bool {
    if lrd_refresh_claim(rule.words(of: entry), now, now + rule.after) { return true }
    return rule.beta > 0 && claimsEarly(entry, by: rule, at: now)
  }

  @usableFromInline @inline(never)
  func claimsEarly(
    _ entry: UnsafeMutablePointer<lrd_entry>, by rule: RefreshRule, at now: UInt64
  ) -> Bool {
    let time = lrd_refresh_time(rule.words(of: entry))
    guard time > 0 else { return false }
    let most = Double(time) * rule.beta
    // Chance has 53 bits, whose logarithm is less than this. Most hits see no more than the word.
    let soon = now + UInt64(min(most * 37, 0x1p50))
    guard lrd_refresh_may_end(entry, soon) else { return false }
    let deadline = lrd_refresh_deadline(core, entry)
    guard deadline > now, deadline <= soon else { return false }
    let left = Double(deadline - now)
    let chance = extras?.chance?() ?? Double.random(in: 0x1p-53...1)
    return left <= most * -log(chance) && lrd_refresh_claim_early(rule.words(of: entry), time)
  }

  /// A hit by `rule`, and whether its value is to be loaded anew.
  @inlinable
  func value(
    _ key: Key, _ hash: UInt64, by rule: RefreshRule, _ isDue: inout Bool
  ) -> Value? {
    guard let lane = lrd_lane_timed(core) else {
      return valueBySearch(key, hash, by: rule, &isDue)
    }
    guard let entry = find(hash, lane) else {
      lrd_miss(core, lane, hash)
      return nil
    }
    guard matches(entry, key, hash, lane) else {
      lrd_loan_end(lane)
      return valueBySearch(key, hash, by: rule, &isDue)
    }
    return copyIfLiving(entry, hash, lane, by: rule, &isDue)
  }

  /// The value of an entry that is on loan.
  @inlinable @inline(__always)
  func copyIfLiving(
    _ entry: UnsafeMutablePointer<lrd_entry>, _ hash: UInt64, _ lane: OpaquePointer,
    by rule: RefreshRule, _ isDue: inout Bool
  ) -> Value? {
    guard lrd_entry_prolong(core, lane, entry) else {
      lrd_loan_end(lane)
      lrd_miss(core, lane, hash)
      return nil
    }
    isDue = claims(entry, by: rule, at: lrd_lane_tick(core, lane))
    let value = entry.value(of: Layout.self).pointee
    lrd_hit(core, lane, entry, hash)
    lrd_loan_end(lane)
    return value
  }

  /// The same where the inlined path does not lead: see ``Cache/valueBySearch(_:_:)``. Entries can
  /// expire in each cache that refreshes.
  @usableFromInline @inline(never)
  func valueBySearch(
    _ key: Key, _ hash: UInt64, by rule: RefreshRule, _ isDue: inout Bool
  ) -> Value? {
    guard let lane = lrd_lane_attach(core) else {
      return valueUnderLock(key, hash, by: rule, &isDue)
    }
    guard let entry = lrd_find_slow(core, lane, hash) else {
      lrd_miss(core, lane, hash)
      return nil
    }
    guard matches(entry, key, hash, lane) else {
      lrd_loan_end(lane)
      return valueUnderLock(key, hash, by: rule, &isDue)
    }
    return copyIfLiving(entry, hash, lane, by: rule, &isDue)
  }

  /// The same without memory for a lane, for loans nested too deep, and for keys of equal hashes.
  private func valueUnderLock(
    _ key: Key, _ hash: UInt64, by rule: RefreshRule, _ isDue: inout Bool
  ) -> Value? {
    let lane = lrd_lane_attach(core)
    let shard = lrd_cache_shard(core, hash)
    lrd_shard_enter(core, lane, shard)
    let entry = findLivingLocked(key, hash, shard)
    if let entry { isDue = claims(entry, by: rule, at: lrd_tick_at(lrd_cache_now(core))) }
    let value = entry?.value(of: Layout.self).pointee
    lrd_note_locked(core, lane, shard, entry, hash)
    lrd_shard_leave(core, shard)
    return value
  }
}

extension LoadingCache {
  /// ``Cache/value(forKey:)``, except that what is old is loaded anew. Not a variant of that with
  /// another way for the rest: each costs the other some instructions.
  @inlinable @inline(__always)
  func found(_ key: Key, _ hash: UInt64) -> Value? {
    guard let lane = lrd_lane_plain(cache.core) else { return valueSlowly(key, hash) }
    guard let entry = cache.find(hash, lane) else {
      lrd_miss(cache.core, lane, hash)
      return nil
    }
    guard cache.matches(entry, key, hash, lane) else {
      lrd_loan_end(lane)
      return valueSlowly(key, hash)
    }
    let value = entry.value(of: EntryLayout<Key, Value>.self).pointee
    lrd_hit(cache.core, lane, entry, hash)
    lrd_loan_end(lane)
    return value
  }

  /// A lookup where the inlined path does not lead: a cache whose values expire, or are loaded
  /// anew.
  @inlinable @inline(never)
  func valueSlowly(_ key: Key, _ hash: UInt64) -> Value? {
    guard let rule else { return cache.valueSlowly(key, hash) }
    var isDue = false
    let value = cache.value(key, hash, by: rule, &isDue)
    if isDue { refresh(key, hash) }
    return value
  }
}
