// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// What one of several threads has to do of a range of requests.
struct Share {
  /// Hands out each request once, to whoever asks next.
  private final class Queue: Sendable {
    let next: Atomic<Int>

    init(_ first: Int) { next = Atomic(first) }
  }

  private let queue: Queue?
  private var own: Int
  private let stride: Int
  private let end: Int

  /// The shares of `threads` threads. With `inOrder`, each thread takes the next request that
  /// nobody has taken: all go through the range together, as the requests of a recorded trace came,
  /// for one locked instruction a request. Otherwise each has every `threads`-th request and shares
  /// nothing; threads that the scheduler sets aside then fall behind by as much as they missed.
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
