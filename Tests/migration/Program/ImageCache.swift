// SPDX-License-Identifier: Apache-2.0
import Foundation

/// An image cache as programs have them: bounded by bytes and number, told of what goes.
final class ImageCache: NSObject, NSCacheDelegate {
  private let cache = NSCache<NSString, Picture>()
  private(set) var log: [String] = []
  private var decoded = 0

  init(name: String, bytes: Int, count: Int) {
    super.init()
    cache.name = name
    cache.totalCostLimit = bytes
    cache.countLimit = count
    cache.delegate = self
  }

  /// Uses the picture of a name, decoding it if it is not there with its pixels.
  func checksum(of name: String, byteCount: Int) -> Int {
    let key = NSString(string: name)
    if let picture = cache.object(forKey: key), picture.beginContentAccess() {
      defer { picture.endContentAccess() }
      log.append("hit \(name)")
      return picture.checksum
    }
    let picture = Picture(name: name, byteCount: byteCount)
    decoded += 1
    log.append("decoded \(name)")
    cache.setObject(picture, forKey: key, cost: byteCount)
    defer { picture.endContentAccess() }
    return picture.checksum
  }

  func forget(_ name: String) { cache.removeObject(forKey: name as NSString) }

  func forgetAll() { cache.removeAllObjects() }

  /// Gives up pixels, as under memory pressure.
  func shrink(_ names: [String]) {
    for name in names { cache.object(forKey: name as NSString)?.discardContentIfPossible() }
  }

  func isCached(_ name: String) -> Bool { cache.object(forKey: name as NSString) != nil }

  var summary: String {
    "\(cache.name): \(decoded) decoded, at most \(cache.totalCostLimit) bytes, \(cache.countLimit)"
  }

  func cache(_ cache: NSCache<AnyObject, AnyObject>, willEvictObject obj: Any) {
    guard let picture = obj as? Picture, isEvicting else { return }
    log.append("\(cache.name) evicts \(picture.name), \(picture.byteCount) bytes")
  }

  /// Foundation tells of removals on some systems only; the program does not depend on it.
  var isEvicting = true
}
