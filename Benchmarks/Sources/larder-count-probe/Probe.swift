// SPDX-License-Identifier: Apache-2.0
import CCallgrind
import Glibc
import Larder
import PolicyFacts

// The program that `Benchmarks/count` runs under callgrind: hits, misses, insertions into a growing
// cache, insertions into a full one, where each evicts, and a read-through. Keys and values are
// made outside the part that is counted, except the values that a read-through stores. One thread,
// and the default policy or the one named on the command line. Without a name what stores is
// counted with fifo, too, under names with an ending: the difference is what the default costs.
//
// The last counts are made beside another thread (Beside.swift).
//
// Each count is announced on stdout as its name, the number of operations to divide by and, for a
// read-through, the hit ratio.

let operations = 20_000

final class Object: Sendable {
  let number: UInt64
  init(_ number: UInt64) { self.number = number }
}

/// Runs all four operations with one type of keys and values, or only those that store.
@inline(__always)
private func count<Key: Hashable & Sendable, Value: Sendable>(
  _ type: String, _ policy: EvictionPolicy, storesOnly: Bool = false, ending: String = "",
  key: (UInt64) -> Key, value: (UInt64) -> Value
) {
  let total = UInt64(operations)
  let spread = { (number: UInt64) in number &* 0x9E37_79B9_7F4A_7C15 }
  let first = (0..<total).map { key(spread($0)) }
  let second = (total..<2 * total).map { key(spread($0)) }
  // Lookups use another order than insertions, and other instances of the keys.
  let resident = (0..<total).map { key(spread($0 &* 7919 % total)) }
  let values = (0..<total).map(value)
  let full = Cache<Key, Value>(countLimit: operations, policy: policy)
  for (key, value) in zip(first, values) { full.insert(value, forKey: key) }
  let empty = Cache<Key, Value>(policy: policy)

  if !storesOnly {
    counted("hit_\(type)", wanted: operations) { found(full, resident) }
    counted("miss_\(type)", wanted: 0) { found(full, second) }
  }
  counted("insert_\(type)\(ending)", wanted: operations) { insert(empty, second, values) }
  counted("evict_\(type)\(ending)", wanted: operations) { insert(full, second, values) }
}

/// The same of integers in a cache whose entries can expire, but do not.
private func countTimed(_ type: String, _ expiration: Expiration, _ policy: EvictionPolicy) {
  let keys = (0..<2 * UInt64(operations)).map { $0 &* 0x9E37_79B9_7F4A_7C15 }
  let (first, second) = (Array(keys[..<operations]), Array(keys[operations...]))
  let full = Cache<UInt64, UInt64>(countLimit: operations, policy: policy, expiration: expiration)
  let empty = Cache<UInt64, UInt64>(policy: policy, expiration: expiration)
  for key in first { full.insert(key, forKey: key) }
  counted("hit_\(type)", wanted: operations) { found(full, first) }
  counted("miss_\(type)", wanted: 0) { found(full, second) }
  counted("insert_\(type)", wanted: operations) { insert(empty, second, second) }
  counted("evict_\(type)", wanted: operations) { insert(full, second, second) }
}

/// Insertions into a small cache, full of what nobody has read.
private func countSmall(_ name: String, _ policy: EvictionPolicy) {
  let keys = (0..<2 * UInt64(operations)).map { $0 &* 0x9E37_79B9_7F4A_7C15 }
  let (first, second) = (Array(keys[..<operations]), Array(keys[operations...]))
  let small = Cache<UInt64, UInt64>(countLimit: 200, policy: policy)
  _ = insert(small, first, first)
  counted(name, wanted: 200) { insert(small, second, second) }
}

@inline(never)
func found<Key, Value>(_ cache: Cache<Key, Value>, _ keys: [Key]) -> Int {
  var found = 0
  for key in keys where cache.value(forKey: key) != nil { found += 1 }
  return found
}

@inline(never)
func insert<Key, Value>(
  _ cache: Cache<Key, Value>, _ keys: [Key], _ values: [Value]
) -> Int {
  for index in keys.indices { cache.insert(values[index], forKey: keys[index]) }
  return cache.count
}

@inline(__always)
func counted(_ name: String, wanted: Int, _ body: () -> Int) {
  lb_callgrind_begin()
  let result = body()
  lb_callgrind_end(name)
  precondition(result == wanted, "\(name) did not do its work")
  print(name, operations)
}

@main
struct Probe {
  static func main() {
    precondition(lb_callgrind_is_built(), "this program was built without valgrind's headers")
    let name = CommandLine.arguments.dropFirst().first
    let named = name.map(EvictionPolicy.init(rawValue:)) ?? .default
    guard let policy = named, !policy.ordersByCost else {
      print("there is no policy '\(name ?? "")' for caches without costs")
      exit(2)
    }
    count("int", policy, key: { $0 }, value: { $0 })
    count("object", policy, key: { $0 }, value: Object.init)
    count("string", policy, key: text, value: { $0 })
    countLocal("int", policy, key: { $0 }, value: { $0 })
    countLocal("string", policy, key: text, value: { $0 })
    let readThrough = ReadThrough(keys: 1_000_000, counted: 500_000)
    readThrough.count("read_through", policy)
    let small = ReadThrough(keys: 2_000, counted: 100_000)
    small.count("read_through_small", policy, hits: 0.5)
    countSmall("evict_small", policy)
    countLoads(policy)
    countTimed("afterWrite", .afterWrite(.seconds(3_600)), policy)
    countTimed("afterAccess", .afterAccess(.seconds(3_600)), policy)
    defer { countBeside(policy, withFIFO: name == nil) }
    if name != nil { return }
    count("int", .fifo, storesOnly: true, ending: "_fifo", key: { $0 }, value: { $0 })
    count("object", .fifo, storesOnly: true, ending: "_fifo", key: { $0 }, value: Object.init)
    count("string", .fifo, storesOnly: true, ending: "_fifo", key: text, value: { $0 })
    countLocal("int", .fifo, storesOnly: true, ending: "_fifo", key: { $0 }, value: { $0 })
    countLocal("string", .fifo, storesOnly: true, ending: "_fifo", key: text, value: { $0 })
    readThrough.count("read_through_fifo", .fifo)
    small.count("read_through_small_fifo", .fifo, hits: 0.5)
    countSmall("evict_small_fifo", .fifo)
  }

  /// 22 bytes of ASCII: too long to be kept inside a String.
  @inline(__always)
  private static func text(_ number: UInt64) -> String {
    let digits = String(number)
    return "k" + String(repeating: "0", count: 21 - digits.count) + digits
  }
}
