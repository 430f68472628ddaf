// SPDX-License-Identifier: Apache-2.0
public import Larder

extension Cache where Value: DiscardableContent {
  /// The value stored for `key` with its content in use until the result is released; `nil` if
  /// there is none, or if its content is gone. A value whose content is gone is removed. (Where the
  /// calling thread is inside 32 loans already, one that replaces it at that moment may be removed
  /// instead.)
  ///
  ///     if let picture = pictures.content(forKey: name) { draw(picture.pixels) }
  ///
  /// - Complexity: As ``value(forKey:)``, and that of the value's own methods.
  public func content(forKey key: Key) -> ContentAccess<Value>? {
    // Lent, so that no copy of a value ends as the last reference: values may be released
    // elsewhere.
    guard let access = withValue(forKey: key, { ContentAccess($0) }) else { return nil }
    if let access { return access }
    // Another thread may have stored a value with content by now: that one stays.
    removeValue(forKey: key) { ContentAccess($0) == nil }
    return nil
  }

  /// Discards the content of all values that nobody uses. The values stay, until they are looked up
  /// by ``content(forKey:)``.
  ///
  /// - Complexity: O(*n*).
  public func discardUnusedContent() {
    forEach { $1.discardContentIfPossible() }
  }

  /// An observer that discards the content of values that leave the cache, if nobody uses it, as
  /// `NSCache` does. It discards after `observer` has seen the value.
  ///
  ///     let pictures = Cache<String, Picture>(
  ///       countLimit: 100, onRemoval: Cache<String, Picture>.discardingContent())
  ///
  /// A value that replaces itself is discarded, too: take another way to change its cost.
  public static func discardingContent(
    after observer: RemovalObserver? = nil
  ) -> RemovalObserver {
    { key, value, cost, cause in
      observer?(key, value, cost, cause)
      value.discardContentIfPossible()
    }
  }
}
