// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The part of a range of requests that one of several threads carries out.
struct Share {
  /// Hands out each request once, to the thread that asks next.
  private final class Queue: Sendable {
    let next: Atomic<Int>

    init(_ first: Int) { next = Atomic(first) }
  }

  private let queue: Queue?
  private var own: Int
  private let stride: Int
  private let end: Int

  /// The shares of `threads` threads.
  ///
  /// With `inOrder`, each thread takes the next request that nobody has taken. So all threads go
  /// through the range together, in the order of a recorded trace, at the price of one locked
  /// instruction for each request. Without it, each thread has every `threads`-th request and
  /// shares nothing. Threads that the scheduler sets aside then fall behind by as much as they
  /// missed.
  static func all(_ threads: Int, of range: Range<Int>, inOrder: Bool) -> [Share] {
    let queue = inOrder && threads > 1 ? Queue(range.lowerBound) : nil
    return (0..<threads).map { thread in
      Share(queue: queue, own: range.lowerBound + thread, stride: threads, end: range.upperBound)
    }
  }

  @inline(__always)
  mutating func next() -> Int? {
    let next: Int
    if let queue {
      next = queue.next.wrappingAdd(1, ordering: .relaxed).oldValue
    } else {
      next = own
      own += stride
    }
    return next < end ? next : nil
  }
}
