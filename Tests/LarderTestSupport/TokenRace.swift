// SPDX-License-Identifier: Apache-2.0
public import Larder
import Synchronization

/// Stores the keys 0 to 399. Then four threads use the cache at once. Two of them first give it
/// lifetimes, by `give`: each stores a token under -1 or -2 that lives for five seconds. When both
/// have, these seconds pass. Traps if a thread finds a token after that, or misses anything else.
public func raceForTokens(
  in cache: Cache<Int, Tracked>, _ clock: ManualClock, _ tracker: LifetimeTracker, seed: Int,
  give: @escaping @Sendable (_ key: Int) -> Void
) {
  for key in 0..<400 { cache[key] = tracker.make(key) }
  let isOver = Atomic(false)
  let isDone = Atomic(0)
  onThreads(4) { thread in
    if thread < 2 {
      _ = cache[thread]
      give(-1 - thread)
      precondition(cache[-1 - thread] != nil)
      if isDone.add(1, ordering: .sequentiallyConsistent).newValue == 2 {
        clock.advance(by: .seconds(5))
        isOver.store(true, ordering: .sequentiallyConsistent)
      }
    }
    var random = SplitMix64(seed: UInt64(4 * seed + thread))
    for step in 0..<2_000 {
      let over = isOver.load(ordering: .sequentiallyConsistent)
      let token = -1 - random.below(2)
      let found =
        switch step % 4 {
        case 0: cache[token] != nil
        case 1: cache.contains(token)
        case 2: cache.withValue(forKey: token) { $0.isIntact } != nil
        default: cache.values(forKeys: [1, token])[1] != nil
        }
      precondition(!over || !found, "found too late")
      let key = random.below(400)
      if key % 4 == 0 {
        cache[key] = tracker.make(key)
      } else {
        precondition(cache.peek(forKey: key)?.payload == key && cache[key] != nil)
      }
    }
  }
  cache.checkInvariants()
}
