// SPDX-License-Identifier: Apache-2.0
import Larder

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

// hit KIND ENTRIES LOOKUPS SAMPLES: looks up 16-byte keys whose values have 64 bytes, and copies
// the values out; prints the median of CPU and wall time for one lookup, in nanoseconds. hit.c is
// its twin.

struct Value {
  var words: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)
}

struct Pair: Hashable {
  var high: UInt64
  var low: UInt64
}

func nanoseconds(_ clock: clockid_t) -> Int {
  var time = timespec()
  clock_gettime(clock, &time)
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// The order of lookups: the same generator as in hit.c.
func order(_ entries: Int, _ lookups: Int) -> [Int] {
  var state: UInt64 = 88_172_645_463_325_252
  return (0..<lookups).map { _ in
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return Int(state % UInt64(entries))
  }
}

@inline(never)
func lookUp<Key: Hashable>(_ cache: Cache<Key, Value>, _ keys: [Key], into value: inout Value) {
  for key in keys {
    guard let found = cache.value(forKey: key) else { fatalError("a miss") }
    value = found
  }
}

func run<Key: Hashable & Sendable>(
  _ entries: Int, _ lookups: Int, _ samples: Int, key: (Int) -> Key
) {
  let cache = Cache<Key, Value>()
  for number in 0..<entries {
    let word = UInt64(number)
    cache.insert(
      Value(words: (word, word, word, word, word, word, word, word)), forKey: key(number))
  }
  let numbers = order(entries, lookups)
  let keys = numbers.map(key)
  var value = Value(words: (0, 0, 0, 0, 0, 0, 0, 0))
  let times = (0..<samples).map { _ in
    let wall = nanoseconds(CLOCK_MONOTONIC)
    let cpu = nanoseconds(CLOCK_THREAD_CPUTIME_ID)
    lookUp(cache, keys, into: &value)
    return (
      cpu: nanoseconds(CLOCK_THREAD_CPUTIME_ID) - cpu, wall: nanoseconds(CLOCK_MONOTONIC) - wall
    )
  }
  precondition(value.words.7 == numbers.last.map(UInt64.init), "another value")
  func median(_ times: [Int]) -> Double { Double(times.sorted()[samples / 2]) / Double(lookups) }
  print(median(times.map(\.cpu)), median(times.map(\.wall)))
}

/// 16 ASCII bytes, as in hit.c.
func text(_ number: Int) -> String {
  let digits = String(number)
  return "key-" + String(repeating: "0", count: 12 - digits.count) + digits
}

let arguments = CommandLine.arguments
guard arguments.count == 5, let entries = Int(arguments[2]), let lookups = Int(arguments[3]),
  let samples = Int(arguments[4])
else { fatalError("hit string|pair ENTRIES LOOKUPS SAMPLES") }
if arguments[1] == "string" {
  run(entries, lookups, samples, key: text)
} else {
  run(entries, lookups, samples) { Pair(high: 0x6b65_792d, low: UInt64($0)) }
}
