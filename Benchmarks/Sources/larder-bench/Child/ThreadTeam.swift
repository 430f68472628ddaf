// SPDX-License-Identifier: Apache-2.0
import CBench
import Foundation
import Synchronization

/// What several threads did together.
struct TeamResult<Result> {
  let results: [Result]  // in no particular order
  let wall: Double  // nanoseconds from the first thread's start to the last one's end
  let cpu: Double  // nanoseconds of processor time, all threads together
}

/// Runs `body` on `count` new threads, which start together once all have done their `preparation`.
func runTogether<Result: Sendable>(
  _ count: Int, preparation: @escaping @Sendable (_ thread: Int) -> Void,
  _ body: @escaping @Sendable (_ thread: Int) -> Result
) -> TeamResult<Result> {
  let gate = Gate(count)
  let collected = Collector<(result: Result, start: UInt64, end: UInt64, cpu: UInt64)>()
  let group = DispatchGroup()
  for thread in 0..<count {
    group.enter()
    Thread.detachNewThread {
      preparation(thread)
      gate.wait()
      let start = lb_clock_ns(CLOCK_MONOTONIC)
      let cpu = lb_clock_ns(CLOCK_THREAD_CPUTIME_ID)
      let result = body(thread)
      let cpuEnd = lb_clock_ns(CLOCK_THREAD_CPUTIME_ID)
      let end = lb_clock_ns(CLOCK_MONOTONIC)
      collected.items.withLock { $0.append((result, start, end, cpuEnd - cpu)) }
      group.leave()
    }
  }
  group.wait()
  let all = collected.items.withLock { $0 }
  return TeamResult(
    results: all.map(\.result),
    wall: Double(all.map(\.end).max()! - all.map(\.start).min()!),
    cpu: Double(all.reduce(0) { $0 + $1.cpu }))
}

private final class Collector<Item: Sendable>: Sendable {
  let items = Mutex<[Item]>([])
}

/// A gate that nobody passes before `count` threads have come.
final class Gate: @unchecked Sendable {
  private let barrier = UnsafeMutablePointer<pthread_barrier_t>.allocate(capacity: 1)

  init(_ count: Int) { pthread_barrier_init(barrier, nil, UInt32(count)) }

  deinit {
    pthread_barrier_destroy(barrier)
    barrier.deallocate()
  }

  func wait() { pthread_barrier_wait(barrier) }
}
