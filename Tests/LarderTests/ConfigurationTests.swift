// SPDX-License-Identifier: Apache-2.0
import CLarder
import Larder
import LarderTestSupport
import Testing

@Suite("Configuration", .timeLimit(.minutes(20)))
struct ConfigurationTests {
  typealias Words = Cache<Int, String>

  private let events = Protected<[String]>([])

  private func removed(_ who: String) -> Words.RemovalObserver {
    { [events] key, _, _, _ in events.withLock { $0.append("\(who): \(key) left") } }
  }

  private func inserted(_ who: String) -> Words.InsertionObserver {
    { [events] key, _, _ in events.withLock { $0.append("\(who): \(key) came") } }
  }

  private func heard(of cache: Words) -> [String] {
    cache[1] = "a"
    cache[1] = nil
    return events.withLock { heard in
      defer { heard = [] }
      return heard
    }
  }

  @Test("Options have shards and observers")
  func options() {
    let cache = Words(
      countLimit: 100,
      options: .init(shards: 4, onRemoval: removed("options"), onInsertion: inserted("options")))
    #expect(cache.withCore { lrd_cache_shards($0) } == 4)
    #expect(heard(of: cache) == ["options: 1 came", "options: 1 left"])
  }

  @Test("Arguments take the place of options, if they are given")
  func arguments() {
    let options = Words.Options(
      shards: 4, onRemoval: removed("options"), onInsertion: inserted("options"))
    let all = Words(
      policy: .lru, shards: 2, onRemoval: removed("argument"), onInsertion: inserted("argument"),
      options: options)
    #expect(all.withCore { lrd_cache_shards($0) } == 2)
    #expect(heard(of: all) == ["argument: 1 came", "argument: 1 left"])
    let none = Words(shards: nil, onRemoval: nil, onInsertion: nil, options: options)
    #expect(none.withCore { lrd_cache_shards($0) } == 4)
    #expect(heard(of: none) == ["options: 1 came", "options: 1 left"])
    let some = Words(onRemoval: removed("argument"), options: options)
    #expect(heard(of: some) == ["options: 1 came", "argument: 1 left"])
  }

  @Test("A closure of two arguments behind the call is the cost function")
  func trailingClosure() {
    let cache = Words(totalCostLimit: 5) { $1.utf8.count }
    cache[1] = "abc"
    #expect(cache.totalCost == 3)
    cache[2] = "abc"
    #expect(cache.keys == [2])
  }

  @Test("A loading cache takes shards and observers by both ways")
  func loadingCache() async throws {
    let byOptions = LoadingCache<Int, String>(
      options: .init(shards: 2, onInsertion: inserted("options"))
    ) { "\($0)" }
    #expect(try await byOptions[1] == "1")
    #expect(byOptions.cache.withCore { lrd_cache_shards($0) } == 2)
    let byArguments = LoadingCache<Int, String>(shards: 4, onInsertion: inserted("argument")) {
      "\($0)"
    }
    #expect(try await byArguments[2] == "2")
    #expect(byArguments.cache.withCore { lrd_cache_shards($0) } == 4)
    #expect(events.withLock { $0 } == ["options: 1 came", "argument: 2 came"])
  }

  @Test("Second chances go with every other option")
  func secondChances() {
    final class Object: Sendable {}
    let clock = ManualClock()
    let cache = Cache<Int, Object>(
      countLimit: 1, policy: .lru,
      options: .init(
        secondChances: 16, shards: 1, lifetime: { _, _ in .seconds(1) }, clock: .manual(clock),
        pressure: .ignore))
    let first = Object()
    cache[1] = first
    cache[2] = Object()
    #expect(cache.survivingValue(forKey: 1) === first)
    clock.advance(by: .seconds(2))
    #expect(cache.value(forKey: 1) == nil)
  }
}
