// SPDX-License-Identifier: Apache-2.0
import Larder

// One function for each kind of hit, under a symbol that `Benchmarks/check-hit-path` can find in
// the optimised program. Caches arrive as ordinary arguments, because a global would add its own
// initialisation to the path, and an opaque C pointer a retain.

final class Object: Sendable {
  let number: UInt64
  init(_ number: UInt64) { self.number = number }
}

/// A hit without any of Swift's reference counting.
@_silgen_name("larder_probe_value") @inline(never)
func probeValue(_ cache: Cache<UInt64, UInt64>, _ key: UInt64) -> UInt64 {
  cache.value(forKey: key) ?? 0
}

/// A hit that lends an object. No retain may appear.
@_silgen_name("larder_probe_with_value") @inline(never)
func probeWithValue(_ cache: Cache<UInt64, Object>, _ key: UInt64) -> UInt64 {
  cache.withValue(forKey: key) { $0.number } ?? 0
}

/// A hit that hands out an object. Its retain is the only permitted write to shared memory.
@_silgen_name("larder_probe_object") @inline(never)
func probeObject(_ cache: Cache<UInt64, Object>, _ key: UInt64) -> Object? {
  cache.value(forKey: key)
}

/// A hit of a cache for one thread.
@_silgen_name("larder_probe_local") @inline(never)
func probeLocal(_ cache: LocalCache<UInt64, UInt64>, _ key: UInt64) -> UInt64 {
  cache.value(forKey: key) ?? 0
}

/// A hit of such a cache that lends an object. No retain may appear.
@_silgen_name("larder_probe_local_with_value") @inline(never)
func probeLocalWithValue(_ cache: LocalCache<UInt64, Object>, _ key: UInt64) -> UInt64 {
  cache.withValue(forKey: key) { $0.number } ?? 0
}

/// An insertion into such a cache, with all that it may lead to.
@_silgen_name("larder_probe_local_insert") @inline(never)
func probeLocalInsert(_ cache: LocalCache<UInt64, UInt64>, _ key: UInt64) {
  cache.insert(key, forKey: key)
}

@main
struct Probe {
  /// Calls every probe with an argument that the compiler cannot know, so that it keeps all of
  /// them.
  static func main() {
    let key = UInt64(CommandLine.arguments.count)
    let numbers = Cache<UInt64, UInt64>(countLimit: 16)
    let objects = Cache<UInt64, Object>(countLimit: 16)
    numbers.insert(40, forKey: key)
    objects.insert(Object(1), forKey: key)
    let localNumbers = LocalCache<UInt64, UInt64>(countLimit: 16)
    let localObjects = LocalCache<UInt64, Object>(countLimit: 16)
    probeLocalInsert(localNumbers, key)
    localObjects.insert(Object(1), forKey: key)
    precondition(probeLocal(localNumbers, key) == key, "a probe missed")
    precondition(probeLocalWithValue(localObjects, key) == 1, "a probe missed")
    let sum =
      probeValue(numbers, key) + probeWithValue(objects, key)
      + (probeObject(objects, key)?.number ?? 0)
    precondition(sum == 42, "a probe missed")
  }
}
