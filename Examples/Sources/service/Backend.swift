// SPDX-License-Identifier: Apache-2.0
import Synchronization

struct Page: Sendable {
  let number: Int
  let version: Int

  var text: String { "page \(number) version \(version)\n" }
}

/// Where the pages are: each read takes five milliseconds, as that of a database may.
final class Backend: Sendable {
  private let versions = Mutex<[Int: Int]>([:])
  private let count = Atomic(0)

  /// How often a page was read.
  var reads: Int { count.load(ordering: .relaxed) }

  func page(_ number: Int) async throws -> Page {
    count.add(1, ordering: .relaxed)
    // The version is that of the beginning: what comes back is already five milliseconds old.
    let page = Page(number: number, version: versions.withLock { $0[number, default: 0] })
    try await Task.sleep(for: .milliseconds(5))
    return page
  }

  func change(_ number: Int) -> Page {
    Page(
      number: number,
      version: versions.withLock {
        $0[number, default: 0] += 1
        return $0[number]!
      })
  }
}
