// SPDX-License-Identifier: Apache-2.0
import Larder
import Testing

@Suite("Local cache: look and store in one call")
struct LocalChangingTests {
  struct Refused: Error {}

  @Test("modifyValue stores a changed copy, at the cost that the entry had")
  func modify() throws {
    let cache = LocalCache<String, [Int]>(totalCostLimit: 100)
    #expect(cache.modifyValue(forKey: "a") { $0.append(1) } == nil)
    #expect(cache.modifyValue(forKey: "a", default: []) { $0.append(1) } == .inserted)
    #expect(cache["a"] == [1] && cache.totalCost == 1)
    cache.insert([1], forKey: "a", cost: 60)
    #expect(cache.modifyValue(forKey: "a") { $0.append(2) } == .replaced)
    #expect(cache["a"] == [1, 2] && cache.totalCost == 60)
    #expect(cache.modifyValue(forKey: "a", cost: 101) { $0.append(3) } == .tooCostly)
    #expect(cache["a"] == nil)
    let asked = LocalCache<Int, [Int]>(totalCostLimit: 100, cost: { $1.count })
    asked.modifyValue(forKey: 1, default: [1, 2]) { $0.append(3) }
    #expect(asked.totalCost == 3)
    asked.modifyValue(forKey: 1) { value in
      asked.removeAll()
      value.append(4)
    }
    #expect(asked[1] == [1, 2, 3, 4] && asked.totalCost == 4)
    #expect(throws: Refused.self) {
      try asked.modifyValue(forKey: 1) { (value: inout [Int]) throws(Refused) in
        value = []
        throw Refused()
      }
    }
    #expect(asked[1] == [1, 2, 3, 4])
  }

  @Test("updateValue stores or removes what its closure leaves")
  func update() {
    let cache = LocalCache<String, Int>(totalCostLimit: 100)
    func count(_ value: inout Int?) -> Int {
      value = (value ?? 0) + 1
      return value!
    }
    let first = cache.updateValue(forKey: "n", cost: { $0 * 10 }, count)
    #expect(first == 1 && cache["n"] == 1 && cache.totalCost == 10)
    cache.updateValue(forKey: "n") { $0! += 1 }
    #expect(cache["n"] == 2 && cache.totalCost == 10)
    cache.updateValue(forKey: "n") { $0 = nil }
    #expect(cache.isEmpty)
  }

  @Test("insert tells what was there, and stores only what is missing if it is told to")
  func insertion() {
    let cache = LocalCache<Int, String>(totalCostLimit: 10)
    var old: String? = "none"
    #expect(cache.insert("a", forKey: 1, replaced: &old) == .inserted && old == nil)
    #expect(cache.insert("b", forKey: 1, replaced: &old) == .replaced && old == "a")
    #expect(cache.insert("c", forKey: 1, cost: 11, replaced: &old) == .tooCostly && old == "b")
    #expect(cache.insert("d", ifAbsentForKey: 1) == (true, "d"))
    #expect(cache.insert("e", ifAbsentForKey: 1) == (false, "d"))
    #expect(cache.insert("f", ifAbsentForKey: 2, cost: 11) == (false, nil))
    #expect(cache.values(forKeys: [2, 1]) == [nil, "d"])
    #expect(Dictionary(uniqueKeysWithValues: cache.snapshot()) == [1: "d"])
  }

  @Test("hottest and coldest list an LRU from its two ends")
  func ends() {
    let cache = LocalCache<Int, Int>(policy: .lru)
    for key in 0..<10 { cache[key] = key }
    _ = cache[0]
    #expect(cache.hottest(3).map(\.key) == [0, 9, 8])
    #expect(cache.coldest(3).map(\.key) == [1, 2, 3])
    #expect(cache.coldest(99).count == 10 && cache.hottest(0).isEmpty)
  }

  @Test("print and dump show numbers, and no entries")
  func description() {
    let cache = LocalCache<String, Int>(countLimit: 10, policy: .lru, name: "x")
    cache["secret"] = 1
    _ = cache["secret"]
    let text = "LocalCache \"x\": 1 of 10 entries, lru, 100.0 % of 1 lookups hit"
    #expect("\(cache)" == text && String(reflecting: cache) == text)
    var dumped = ""
    dump(cache, to: &dumped)
    #expect(dumped.contains("countLimit: 10") && !dumped.contains("secret"))
  }
}
