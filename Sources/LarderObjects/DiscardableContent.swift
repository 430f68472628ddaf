// SPDX-License-Identifier: Apache-2.0
import Foundation

/// An object whose content may be thrown away while nobody uses it, and the object be kept.
///
/// The protocol has the four members of Foundation's `NSDiscardableContent`, which exists on
/// Apple's systems only; what is written for that one needs
///
///     typealias NSDiscardableContent = DiscardableContent
///
/// An object counts its users. It starts with a count of 1, so that it is not discarded before its
/// maker has let go of it with ``endContentAccess()``. Content is used between
/// ``beginContentAccess()`` and ``endContentAccess()``, and is discarded only while the count is 0.
///
/// ``Discardable`` and ``PurgeableData`` are ready to use; ``ContentAccess`` pairs the calls.
/// Conform to the protocol in the open: a cache never guesses it from the names of methods.
///
/// **Threads.** A cache that is shared by threads calls these methods on any of them.
public protocol DiscardableContent: AnyObject {
  /// Counts one more user.
  ///
  /// - Returns: Whether the content is there. False, and nothing counted, if it is discarded and
  ///   cannot be made again.
  func beginContentAccess() -> Bool

  /// Counts one user less.
  func endContentAccess()

  /// Discards the content if the count is 0.
  func discardContentIfPossible()

  /// Whether the content is gone.
  func isContentDiscarded() -> Bool
}

extension DiscardableContent {
  /// Something to hand on in place of the object that keeps its content from being discarded as
  /// long as it lives; `nil` if the content is gone already.
  ///
  /// Foundation's property of this name returns a proxy that passes for the object itself, by
  /// message forwarding. Swift forwards properties only: see ``ContentAccess``.
  public var autoContentAccessingProxy: ContentAccess<Self>? { ContentAccess(self) }
}

/// The discardable content that `object` is, if its class conforms.
func discardableContent(_ object: AnyObject) -> (any DiscardableContent)? {
  if let content = object as? any DiscardableContent { return content }
  #if canImport(ObjectiveC)
    if let content = object as? any NSDiscardableContent { return FoundationContent(content) }
  #endif
  return nil
}

#if canImport(ObjectiveC)
  /// Foundation's protocol as this one.
  private final class FoundationContent: DiscardableContent {
    private let content: any NSDiscardableContent
    init(_ content: any NSDiscardableContent) { self.content = content }
    func beginContentAccess() -> Bool { content.beginContentAccess() }
    func endContentAccess() { content.endContentAccess() }
    func discardContentIfPossible() { content.discardContentIfPossible() }
    func isContentDiscarded() -> Bool { content.isContentDiscarded() }
  }
#endif
