// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Closures that write, while they change a key, that same key.
@Suite("Changes that spoil themselves", .timeLimit(.minutes(20)))
struct SpoiledChangeTests {
  enum Way: CaseIterable, Codable {
    case assigned, updated, modified, removedAndStored, allRemovedAndStored, removedWhere
    case givenLifetime, onAnotherCache, toggled

    func spoil(_ cache: Cache<String, Int>, _ run: Int) {
      switch self {
      case .assigned: cache["n"] = run
      case .updated: cache.updateValue(forKey: "n") { $0 = run }
      case .modified: cache.modifyValue(forKey: "n", default: 0) { $0 += 1 }
      case .removedAndStored:
        cache.removeValue(forKey: "n")
        cache["n"] = run
      case .allRemovedAndStored:
        cache.removeAll()
        cache["n"] = run
      case .removedWhere:
        cache.removeAll { key, _ in key == "n" }
        cache["n"] = run
      case .toggled: cache["n"] = cache.contains("n") ? nil : run
      case .givenLifetime: cache.setLifetime(.seconds(1_000 + run), forKey: "n")
      case .onAnotherCache:
        // The inner change is the innermost one, and the outer one is spoiled all the same.
        Cache<String, Int>(countLimit: 1).modifyValue(forKey: "n", default: 0) { _ in
          cache["n"] = run
        }
      }
    }

    /// Spoils the first so many runs. Returns how many there were.
    func change(_ cache: Cache<String, Int>, spoiling most: Int) -> Int {
      var runs = 0
      cache.modifyValue(forKey: "n", default: 0) { value in
        runs += 1
        if runs <= most { spoil(cache, runs) }
        value = -1
      }
      return runs
    }
  }

  @Test("One that spoils each run ends the process, and says why", arguments: Way.allCases)
  func endless(way: Way) async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [way] in
      let cache = Cache<String, Int>(countLimit: 100)
      cache["n"] = 0
      _ = way.change(cache, spoiling: .max)
    }
    let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(said.contains("must not write, each time, the key that it is to change"), "\(said)")
    #expect(said.contains("SpoiledChangeTests.swift"), "\(said)")
  }

  @Test("One that stops spoiling in time changes the key", arguments: Way.allCases)
  func ended(way: Way) {
    let cache = Cache<String, Int>(countLimit: 100)
    cache["n"] = 0
    #expect(way.change(cache, spoiling: 999) == 1_000)
    #expect(cache["n"] == -1)
    cache.checkInvariants()
  }

  @Test("One that removes its key stores it", arguments: [false, true])
  func removed(all: Bool) {
    let cache = Cache<String, Int>(countLimit: 100)
    cache["n"] = 1
    var runs = 0
    let outcome = cache.modifyValue(forKey: "n", default: 10) { value in
      runs += 1
      if all { cache.removeAll() } else { cache.removeValue(forKey: "n") }
      value += 1
    }
    #expect(outcome == .inserted && cache["n"] == 11 && runs == 2)
  }

  @Test("One that loses against others may try more often, and write other keys")
  func losing() {
    let cache = Cache<String, Int>(countLimit: 100)
    cache["n"] = 0
    var runs = 0
    cache.modifyValue(forKey: "n", default: 0) { value in
      runs += 1
      cache["m"] = runs
      // What another cache loses is nothing of this one.
      Cache<String, Int>(countLimit: 1)["n"] = runs
      let run = runs
      if runs <= 1_500 { RealThread { cache["n"] = run }.join() }
      value += 1
    }
    #expect(runs == 1_501 && cache["n"] == 1_501 && cache["m"] == 1_501)
  }

  @Test("One that throws leaves nothing under way")
  func throwing() {
    struct Stop: Error {}
    let cache = Cache<String, Int>(countLimit: 100)
    cache["n"] = 0
    for _ in 0..<2_000 {
      #expect(throws: Stop.self) {
        try cache.modifyValue(forKey: "n") { _ in
          cache["n"] = 1
          throw Stop()
        }
      }
    }
    #expect(Way.assigned.change(cache, spoiling: 999) == 1_000)
  }
}
