// SPDX-License-Identifier: Apache-2.0
import Larder

// One function per flavour of a hit, under a symbol that `Benchmarks/check-hit-path` can find in
// the optimised program. Caches arrive as ordinary arguments: a global would add its own
// initialisation to the path, an opaque C pointer a retain.

final class Object: Sendable {
  let number: UInt64
  init(_ number: UInt64) { self.number = number }
}

/// The hit path with nothing of Swift's reference counting in it.
@_silgen_name("larder_probe_value") @inline(never)
func probeValue(_ cache: Cache<UInt64, UInt64>, _ key: UInt64) -> UInt64 {
  cache.value(forKey: key) ?? 0
}

/// Lends an object: no retain may appear.
@_silgen_name("larder_probe_with_value") @inline(never)
func probeWithValue(_ cache: Cache<UInt64, Object>, _ key: UInt64) -> UInt64 {
  cache.withValue(forKey: key) { $0.number } ?? 0
}

/// Hands out an object: its retain is the one permitted write to shared memory.
@_silgen_name("larder_probe_object") @inline(never)
func probeObject(_ cache: Cache<UInt64, Object>, _ key: UInt64) -> Object? {
  cache.value(forKey: key)
}

@main
struct Probe {
  /// Calls every probe with an argument the compiler cannot know, so that all of them are kept.
  static func main() {
    let key = UInt64(CommandLine.arguments.count)
    let numbers = Cache<UInt64, UInt64>(countLimit: 16)
    let objects = Cache<UInt64, Object>(countLimit: 16)
    numbers.insert(40, forKey: key)
    objects.insert(Object(1), forKey: key)
    let sum =
      probeValue(numbers, key) + probeWithValue(objects, key)
      + (probeObject(objects, key)?.number ?? 0)
    precondition(sum == 42, "a probe missed")
  }
}
