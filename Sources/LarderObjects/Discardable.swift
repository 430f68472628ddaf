// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A box that makes ``DiscardableContent`` of any value. It counts its users and can be emptied.
///
///     let layout = Discardable(try Layout(of: number))
///     layouts.setObject(layout, forKey: number, cost: 4_096)
///     layout.endContentAccess()                  // from now on it may go
///     …
///     let height = layout.withContent { $0.height } ?? measure(number)
///
/// **Threads.** All members may be called from any thread. The content is released without a lock.
public final class Discardable<Content>: DiscardableContent {
  private let lock = NSLock()
  private var counter = AccessCounter()
  private var stored: Content?

  /// Creates a box with one user, its maker, who calls ``endContentAccess()`` when done.
  public init(_ content: Content) { stored = content }

  /// The content, or `nil` if it is gone. Reading it counts no user. A copy stays, whatever becomes
  /// of the box.
  public var content: Content? { lock.withLock { stored } }

  /// Calls `body` with the content, between ``beginContentAccess()`` and ``endContentAccess()``.
  /// Returns `nil` if the content is gone.
  public func withContent<Result, Failure: Error>(
    _ body: (Content) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    guard beginContentAccess() else { return nil }
    defer { endContentAccess() }
    guard let content else { return nil }
    return try body(content)
  }

  public func beginContentAccess() -> Bool { lock.withLock { counter.begin() } }

  /// Counts one user less. More calls than of ``beginContentAccess()`` are an error in debug builds
  /// and ignored in others.
  public func endContentAccess() { lock.withLock { _ = counter.end() } }

  public func discardContentIfPossible() {
    let discarded: Content? = lock.withLock {
      guard counter.mayDiscard else { return nil }
      counter.discard()
      return stored.take()
    }
    withExtendedLifetime(discarded) {}
  }

  public func isContentDiscarded() -> Bool { lock.withLock { counter.isDiscarded } }
}

// `lock` guards the two variables.
extension Discardable: @unchecked Sendable where Content: Sendable {}
