// SPDX-License-Identifier: Apache-2.0
import CCallgrind
import Larder
import Synchronization

/// Hits of a cache that could load: of the blocking form, the asynchronous one, and a cache with a
/// loader, where nothing is loaded; and loads by the blocking form into a cache with room.
func countLoads(_ policy: EvictionPolicy) {
  let total = UInt64(operations)
  let keys = (0..<total).map { ($0 &* 7919 % total) &* 0x9E37_79B9_7F4A_7C15 }
  let loading = LoadingCache<UInt64, UInt64>(countLimit: operations, policy: policy) { $0 }
  let cache = loading.cache
  for key in keys { cache.insert(key, forKey: key) }
  counted("hit_load_int", wanted: operations) {
    var found = 0
    for key in keys where (try? cache.value(forKey: key, load: { _ in 0 })) == key { found += 1 }
    return found
  }
  let empty = Cache<UInt64, UInt64>(countLimit: 2 * operations, policy: policy)
  // The first one makes the table of loads, and types are looked up for the first time.
  _ = try? empty.value(forKey: 1, load: { $0 })
  counted("load_int", wanted: operations) {
    var loaded = 0
    for key in keys where (try? empty.value(forKey: key, load: { $0 })) == key { loaded += 1 }
    return loaded
  }
  // Starts on this thread and goes on there, as a hit never suspends. So all of it is done when the
  // next line runs, and no other thread ever starts: callgrind does not like those.
  Task.immediate {
    var found = 0
    lb_callgrind_begin()
    for key in keys where (try? await cache.value(forKey: key, load: { _ in 0 })) == key {
      found += 1
    }
    lb_callgrind_end("hit_async_int")
    print("hit_async_int", operations)
    precondition(found == operations)
    found = 0
    lb_callgrind_begin()
    for key in keys where (try? await loading[key]) == key { found += 1 }
    lb_callgrind_end("hit_loading_int")
    print("hit_loading_int", operations)
    precondition(found == operations)
    isDone.store(true, ordering: .relaxed)
  }
  precondition(isDone.load(ordering: .relaxed), "a hit has suspended")
}

private let isDone = Atomic(false)
