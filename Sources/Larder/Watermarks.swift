// SPDX-License-Identifier: Apache-2.0
import CLarder
import Synchronization

/// The low-water marks of a cache, and whether a purge is under way.
final class Watermarks: Sendable {
  /// Entries that one insertion evicts for the purge. More than one, so that the purge comes to an
  /// end although each insertion adds an entry.
  static let entriesPerInsertion: UInt64 = 8

  let count: Int
  let cost: Int
  /// Relaxed: it publishes nothing. Two insertions may purge at the same time, and one may end a
  /// purge that another has just begun. The next insertion that finds no room begins it again.
  private let isPurging = Atomic(false)

  /// `nil` if there are no marks.
  init?(count: Int, cost: Int, for place: Place) {
    let (file, line) = (place.file, place.line)
    require(count >= 0, "preferredCount must not be negative", file: file, line: line)
    require(cost >= 0, "preferredTotalCost must not be negative", file: file, line: line)
    if count == 0 && cost == 0 { return nil }
    self.count = count
    self.cost = cost
  }

  func beginPurge() { isPurging.store(true, ordering: .relaxed) }

  func didInsert<Key, Value>(into cache: Cache<Key, Value>) {
    guard isPurging.load(ordering: .relaxed) else { return }
    cache.trim(
      count == 0 ? .max : UInt64(count), cost == 0 ? .max : UInt64(cost),
      atMost: Self.entriesPerInsertion)
    if (count == 0 || cache.count <= count) && (cost == 0 || cache.totalCost <= cost) {
      isPurging.store(false, ordering: .relaxed)
    }
  }
}
