// SPDX-License-Identifier: Apache-2.0
import Foundation
import LarderObjects
import LarderTestSupport
import Testing

@Suite("Forks of object caches", .timeLimit(.minutes(20)))
struct ObjectCacheForkTests {
  @Test("After a fork while another thread writes settings, the child can use the settings")
  func forkedSettings() async {
    await #expect(processExitsWith: .success) {
      struct Shared: @unchecked Sendable { let cache = ObjectCache<NSNumber, NSNumber>() }
      let shared = Shared()
      useAfterFork(shared.cache)
      let forked = Protected(false)
      onThreads(2) { thread in
        if thread == 0 {
          for _ in 0..<Stress.scaled(100, atLeast: 10) {
            expectChildSuccess { useAfterFork(shared.cache) }
          }
          forked.withLock { $0 = true }
        } else {
          while !forked.withLock({ $0 }) {
            for _ in 0..<100 { shared.cache.delegate = nil }
          }
        }
      }
    }
  }
}

private func useAfterFork(_ cache: ObjectCache<NSNumber, NSNumber>) {
  cache.name = "child"
  cache.delegate = nil
  cache.setObject(1, forKey: 1)
  cache.removeObject(forKey: 1)
}
