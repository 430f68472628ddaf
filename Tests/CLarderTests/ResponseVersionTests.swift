// SPDX-License-Identifier: Apache-2.0
import CLarder
import Larder
import Testing

/// Which of two responses to pressure a cache follows.
@Suite("Versions of a response to pressure")
struct ResponseVersionTests {
  /// How many of 100 entries stay at a warning, once the core has heard of responses that keep
  /// everything (version 7) and then half.
  private func kept(_ version: UInt64) -> Int {
    let cache = Cache<Int, Int>(countLimit: 100, options: .init(pressure: .ignore))
    for key in 0..<100 { cache[key] = key }
    var response = lrd_response()
    response.heeds = true
    response.at.1.keep = 1
    response.version = 7
    cache.withCore { lrd_cache_set_response($0, &response) }
    response.at.1.keep = 0.5
    response.version = version
    cache.withCore { lrd_cache_set_response($0, &response) }
    MemoryPressure.report(.warning)
    MemoryPressure.report(.normal)
    return cache.count
  }

  @Test("One of a lower version comes too late, one of the same replaces it")
  func versions() async {
    await #expect(processExitsWith: .success) {
      #expect(Self().kept(6) == 100)
      #expect(Self().kept(7) == 50)
      #expect(Self().kept(8) == 50)
    }
  }
}
