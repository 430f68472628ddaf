// SPDX-License-Identifier: Apache-2.0
import Foundation

/// An object that is kept while its content may be thrown away, as long as nobody uses that.
///
/// The protocol has the four members of Foundation's `NSDiscardableContent`, which exists on
/// Apple's systems only. Code written for that protocol needs this line:
///
///     typealias NSDiscardableContent = DiscardableContent
///
/// An object counts its users. The count starts at 1, so the content is not discarded before the
/// maker of the object lets go of it with ``endContentAccess()``. Use the content between
/// ``beginContentAccess()`` and ``endContentAccess()``. It is discarded only while the count is 0.
///
/// ``Discardable`` and ``PurgeableData`` are ready to use, and ``ContentAccess`` pairs the calls. A
/// class must declare its conformance: a cache never guesses it from the names of methods.
///
/// **Threads.** A cache that threads share calls these methods on any of them.
public protocol DiscardableContent: AnyObject {
  /// Counts one more user.
  ///
  /// - Returns: Whether the content is there. If it was discarded and cannot be made again, the
  ///   result is false and no user is counted.
  func beginContentAccess() -> Bool

  /// Counts one user less.
  func endContentAccess()

  /// Discards the content if the count is 0.
  func discardContentIfPossible()

  /// Whether the content is gone.
  func isContentDiscarded() -> Bool
}

extension DiscardableContent {
  /// Keeps the content from being discarded as long as the result lives, and stands in for the
  /// object; `nil` if the content is already gone.
  ///
  /// Foundation's property of this name returns a proxy that passes for the object itself by
  /// message forwarding. Swift can forward properties only; see ``ContentAccess``.
  public var autoContentAccessingProxy: ContentAccess<Self>? { ContentAccess(self) }
}

/// The discardable content that `object` is, or `nil` if its class does not conform.
func discardableContent(_ object: AnyObject) -> (any DiscardableContent)? {
  if let content = object as? any DiscardableContent { return content }
  #if canImport(ObjectiveC)
    if let content = object as? any NSDiscardableContent { return AdaptedContent(content) }
  #endif
  return nil
}

#if canImport(ObjectiveC)
  /// Adapts Foundation's protocol to this one.
  private final class AdaptedContent: DiscardableContent {
    private let content: any NSDiscardableContent
    init(_ content: any NSDiscardableContent) { self.content = content }
    func beginContentAccess() -> Bool { content.beginContentAccess() }
    func endContentAccess() { content.endContentAccess() }
    func discardContentIfPossible() { content.discardContentIfPossible() }
    func isContentDiscarded() -> Bool { content.isContentDiscarded() }
  }
#endif
