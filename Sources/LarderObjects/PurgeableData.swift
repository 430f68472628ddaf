// SPDX-License-Identifier: Apache-2.0
import CPurgeable
public import Foundation
import Larder

/// Bytes that the kernel may take back when memory is short and nobody uses them.
///
///     guard let pixels = PurgeableData(decode(address)) else { … }
///     files.setObject(pixels, forKey: address, cost: pixels.count)
///     pixels.endContentAccess()                       // from now on they may go
///     …
///     if pixels.withUnsafeBytes(draw) == nil { … }    // gone: decode again
///
/// It takes the place of Foundation's `NSPurgeableData`, which exists on Apple's systems only, and
/// counts its users in the same way. There are two differences. The bytes do not change once the
/// object is made, so threads may share it. And nobody can touch them without counting as a user:
/// ``withUnsafeBytes(_:)`` begins and ends an access itself.
///
/// **Linux.** The bytes have pages of their own. While nobody uses them, they are offered to the
/// kernel with `MADV_FREE`. Under memory pressure the kernel takes some or all of them, at no cost,
/// instead of swapping or killing. A word in each page shows at the next use that the page was
/// taken; then all of the content counts as discarded. If the kernel refuses the offer, as for
/// locked memory, the bytes stay until they are discarded.
///
/// **Apple.** The same, with `malloc`'s purgeable zone.
///
/// **Costs.** A whole number of pages, and two bytes for each page. The last ``endContentAccess()``
/// looks in each page for a word that is not zero, so it reads the zeros that a page begins with,
/// and makes a system call. The first ``beginContentAccess()`` takes one step for each page. While
/// nobody uses the bytes, ``isContentDiscarded()`` takes a step for each page, and so does every
/// lookup in an ``ObjectCache`` that finds the object.
///
/// **Threads.** All members may be called from any thread.
public final class PurgeableData: DiscardableContent, @unchecked Sendable {
  // Sendable: `lock` guards the counter and the state of the memory. The bytes do not change.

  private let lock = NSLock()
  private var counter = AccessCounter()
  private var memory = lrd_purgeable()

  /// The number of bytes, even when they are gone.
  public let count: Int

  /// Copies `bytes`. There is one user, the maker, who calls ``endContentAccess()`` when done.
  /// `nil` if there is no memory for the copy.
  public convenience init?(_ bytes: some ContiguousBytes) {
    self.init(count: bytes.withUnsafeBytes { $0.count }) { room in
      bytes.withUnsafeBytes { room.copyMemory(from: $0) }
    }
  }

  /// Creates `count` bytes, which are zero until `initialize` writes them. There is one user, the
  /// maker, who calls ``endContentAccess()`` when done. `nil` if there is no memory for the bytes.
  ///
  /// - Parameters:
  ///   - count: The number of bytes. Must not be negative.
  ///   - file: The file of the call, for the message of a trap.
  ///   - line: The line of the call, for the message of a trap.
  ///   - initialize: Writes the bytes. The initializer rethrows its errors.
  public init?<Failure: Error>(
    count: Int, file: StaticString = #fileID, line: UInt = #line,
    initialize: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
  ) throws(Failure) {
    require(count >= 0, "count must not be negative", file: file, line: line)
    self.count = count
    guard lrd_purgeable_create(&memory, count) else { return nil }
    try initialize(UnsafeMutableRawBufferPointer(start: memory.bytes, count: count))
  }

  deinit { lrd_purgeable_destroy(&memory) }

  /// Lends the bytes to `body`, which must not keep the pointer, and counts as a user meanwhile.
  /// Returns `nil` if the bytes are gone.
  public func withUnsafeBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    var bytes: UnsafeRawBufferPointer?
    lock.withLock {
      if begin({ $0.beginLoan() }) { bytes = .init(start: memory.bytes, count: count) }
    }
    guard let bytes else { return nil }
    // A loan of its own: one endContentAccess() too many must not take the bytes away.
    defer { lock.withLock { if counter.endLoan() { lrd_purgeable_offer(&memory) } } }
    return try body(bytes)
  }

  /// A copy of the bytes, or `nil` if they are gone.
  public var data: Data? { withUnsafeBytes { Data($0) } }

  public func beginContentAccess() -> Bool {
    lock.withLock { begin { $0.begin() } }
  }

  private func begin(_ count: (inout AccessCounter) -> Bool) -> Bool {
    if counter.mayDiscard && !lrd_purgeable_reclaim(&memory) { discard() }
    return count(&counter)
  }

  /// Counts one user less. More calls than of ``beginContentAccess()`` are an error in debug builds
  /// and ignored in others.
  public func endContentAccess() {
    lock.withLock { if counter.end() { lrd_purgeable_offer(&memory) } }
  }

  public func discardContentIfPossible() {
    lock.withLock { if counter.mayDiscard { discard() } }
  }

  /// Whether the bytes are gone: discarded, or taken by the kernel.
  public func isContentDiscarded() -> Bool {
    lock.withLock {
      if counter.mayDiscard && !lrd_purgeable_is_intact(&memory) { discard() }
      return counter.isDiscarded
    }
  }

  private func discard() {
    counter.discard()
    lrd_purgeable_destroy(&memory)
  }
}
