// SPDX-License-Identifier: Apache-2.0
import Glibc
import Larder

/// Insertions into a full cache where another thread has used a cache, too, and lives. That thread
/// might hold an evicted entry. So the entry waits until all hazards have been read, as in any
/// program of several threads. What the background thread does is not counted.
///
/// To be called last: the other thread lives as long as the program.
func countBeside(_ policy: EvictionPolicy, withFIFO: Bool) {
  AnotherThread.start()
  countBeside("int", policy) { $0 }
  countBeside("object", policy, value: Object.init)
  guard withFIFO else { return }
  countBeside("int", .fifo, ending: "_fifo") { $0 }
  countBeside("object", .fifo, ending: "_fifo", value: Object.init)
}

@inline(__always)
private func countBeside<Value: Sendable>(
  _ type: String, _ policy: EvictionPolicy, ending: String = "", value: (UInt64) -> Value
) {
  let keys = (0..<2 * UInt64(operations)).map { $0 &* 0x9E37_79B9_7F4A_7C15 }
  let (first, second) = (Array(keys[..<operations]), Array(keys[operations...]))
  let values = (0..<UInt64(operations)).map(value)
  let full = Cache<UInt64, Value>(countLimit: operations, policy: policy)
  _ = insert(full, first, values)
  let resident = (0..<operations).map { first[$0 &* 7919 % operations] }
  precondition(found(full, resident) == operations, "the cache is not full")
  counted("evict_\(type)_beside\(ending)", wanted: operations) { insert(full, second, values) }
}

private enum AnotherThread {
  private static let cache = Cache<Int, Int>(countLimit: 1)

  /// Returns when the thread has used its cache.
  static func start() {
    var thread = pthread_t()
    let status = pthread_create(
      &thread, nil,
      { _ in
        AnotherThread.cache.insert(0, forKey: 0)
        while true { pause() }
      }, nil)
    precondition(status == 0, "no thread: \(String(cString: strerror(status)))")
    while cache.isEmpty { usleep(1_000) }
  }
}
