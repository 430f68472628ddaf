// SPDX-License-Identifier: Apache-2.0
import Larder
import Testing

@Suite("Descriptions")
struct DescriptionTests {
  @Test("print shows name, counts, limits, policy and hit ratio")
  func line() {
    let cache = Cache<Int, Int>(
      countLimit: 10, totalCostLimit: 50, policy: .lru, name: "pictures")
    for key in 0..<4 { cache.insert(key, forKey: key, cost: 5) }
    for key in 0..<6 { _ = cache[key] }
    let text = "Cache \"pictures\": 4 of 10 entries, cost 20 of 50, lru, 66.7 % of 6 lookups hit"
    #expect("\(cache)" == text && String(reflecting: cache) == text)
    #expect("\(Cache<Int, Int>(policy: .fifo))" == "Cache: 0 entries, fifo")
  }

  @Test("print and dump show what a loading cache holds, and its loads")
  func loading() async throws {
    let pages = LoadingCache<Int, Int>(countLimit: 10, policy: .lru, name: "pages") { $0 }
    for key in [1, 2, 1, 1] { _ = try await pages[key] }
    let text = "LoadingCache \"pages\": 2 of 10 entries, lru, 50.0 % of 4 lookups hit, 2 loads"
    #expect("\(pages)" == text && String(reflecting: pages) == text)
    #expect(Mirror(reflecting: pages).children.map(\.label) == ["cache", "statistics"])
  }

  @Test("dump shows the same, and no entries")
  func mirror() {
    let cache = Cache<String, Int>(countLimit: 10, name: "x")
    cache["secret"] = 1
    let labels = Mirror(reflecting: cache).children.compactMap(\.label)
    #expect(labels.first == "name" && labels.contains("count") && labels.contains("statistics"))
    var text = ""
    dump(cache, to: &text)
    #expect(text.contains("countLimit: 10") && !text.contains("secret"))
  }
}
