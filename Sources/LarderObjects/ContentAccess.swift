// SPDX-License-Identifier: Apache-2.0

/// One use of discardable content. It lasts as long as this object lives.
///
/// The object begins the access when it is made and ends it when it is released, so no path through
/// your code forgets to. It stands in for the content as far as Swift allows: the content's
/// properties and subscripts are also the access's, but methods must be called on ``content``.
///
///     if let picture = cached.autoContentAccessingProxy {
///       draw(picture.pixels, picture.width)      // properties of the content
///       picture.content.rotate()                 // methods
///     }
@dynamicMemberLookup
public final class ContentAccess<Content: DiscardableContent> {
  /// The object whose content is in use.
  public let content: Content

  /// Begins an access; `nil` if the content is gone.
  public init?(_ content: Content) {
    // `deinit` does not run if the initializer fails.
    guard content.beginContentAccess() else { return nil }
    self.content = content
  }

  deinit { content.endContentAccess() }

  /// A property of the content.
  public subscript<Member>(dynamicMember member: KeyPath<Content, Member>) -> Member {
    content[keyPath: member]
  }

  /// A settable property of the content.
  public subscript<Member>(
    dynamicMember member: ReferenceWritableKeyPath<Content, Member>
  ) -> Member {
    get { content[keyPath: member] }
    set { content[keyPath: member] = newValue }
  }
}

extension ContentAccess: Sendable where Content: Sendable {}
