// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A decoded picture that can do without its pixels for a while.
final class Picture: NSObject, NSDiscardableContent {
  let name: String
  let byteCount: Int
  private var pixels: [UInt8]?
  private var users = 1

  init(name: String, byteCount: Int) {
    self.name = name
    self.byteCount = byteCount
    pixels = Array(repeating: UInt8(truncatingIfNeeded: byteCount), count: byteCount)
  }

  func beginContentAccess() -> Bool {
    guard pixels != nil else { return false }
    users += 1
    return true
  }

  func endContentAccess() { users -= 1 }

  func discardContentIfPossible() {
    if users == 0 { pixels = nil }
  }

  func isContentDiscarded() -> Bool { pixels == nil }

  var checksum: Int { (pixels ?? []).reduce(0) { ($0 + Int($1)) % 1_000 } }
}
