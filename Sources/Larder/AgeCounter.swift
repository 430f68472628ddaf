// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Numbers the entries of a cache in the order of their insertion. No two numbers are equal. The
/// addition is relaxed: it publishes nothing.
final class AgeCounter: Sendable {
  private let last = Atomic<UInt64>(0)

  func next() -> UInt64 { last.add(1, ordering: .relaxed).newValue }
}
