// SPDX-License-Identifier: Apache-2.0
public import Larder

extension Cache where Value: DiscardableContent {
  /// Returns the value stored for `key`, with its content in use until the result is released.
  ///
  ///     if let picture = pictures.content(forKey: name) { draw(picture.pixels) }
  ///
  /// The result is `nil` if there is no value, or if its content is gone. A value whose content is
  /// gone is removed. (If the calling thread is already inside 32 loans, a value that replaces it
  /// at that moment may be removed instead.)
  ///
  /// - Complexity: Like ``value(forKey:)``, plus the value's own methods.
  public func content(forKey key: Key) -> ContentAccess<Value>? {
    // On loan, so that no copy ends as the last reference: the cache may release its values
    // elsewhere.
    guard let access = withValue(forKey: key, { ContentAccess($0) }) else { return nil }
    if let access { return access }
    // Another thread may have stored a value with content by now. That one stays.
    removeValue(forKey: key) { ContentAccess($0) == nil }
    return nil
  }

  /// Discards the content of all values that nobody uses. The values themselves stay in the cache
  /// until ``content(forKey:)`` looks them up.
  ///
  /// - Complexity: O(*n*).
  public func discardUnusedContent() {
    forEach { $1.discardContentIfPossible() }
  }

  /// Returns an observer that discards the content of values that leave the cache, unless somebody
  /// uses it, as `NSCache` does. The content is discarded after `observer` has seen the value.
  ///
  ///     let pictures = Cache<String, Picture>(
  ///       countLimit: 100, onRemoval: Cache<String, Picture>.discardingContent())
  ///
  /// The content of a value that replaces itself is discarded too, so change a cost in another way.
  public static func discardingContent(
    after observer: RemovalObserver? = nil
  ) -> RemovalObserver {
    { key, value, cost, cause in
      observer?(key, value, cost, cause)
      value.discardContentIfPossible()
    }
  }
}
