// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// The removal of a group while others load.
@Suite("Invalidation of groups", .timeLimit(.minutes(20)))
struct GroupInvalidationTests {
  /// A group that callers may name by an integer, and that counts how often they do.
  struct Shelf: Hashable, Sendable, Numeric {
    static let conversions = Counter()
    var number: Int

    init(_ number: Int) { self.number = number }
    init(integerLiteral number: Int) { self.init(number) }
    init?(exactly number: some BinaryInteger) {
      Self.conversions.next()
      guard let number = Int(exactly: number) else { return nil }
      self.init(number)
    }

    var magnitude: UInt { number.magnitude }
    static func + (a: Shelf, b: Shelf) -> Shelf { Shelf(a.number + b.number) }
    static func - (a: Shelf, b: Shelf) -> Shelf { Shelf(a.number - b.number) }
    static func * (a: Shelf, b: Shelf) -> Shelf { Shelf(a.number * b.number) }
    static func *= (a: inout Shelf, b: Shelf) { a = a * b }
  }

  struct Broken: Error {}

  @Test("The name of the group is looked at as often, however many keys load or have failed")
  func named() async throws {
    let gate = Switch()
    let cache = LoadingCache<Int, Int>(
      options: .init(groups: .by { Shelf($0 / 10) }),
      loading: .init(failures: .init(first: .seconds(3_600), longest: .seconds(3_600)))
    ) { key in
      if key >= 500 { throw Broken() }
      while !gate.isOn { await Task.yield() }
      return key
    }
    func conversions(of group: some FixedWidthInteger & Sendable) -> Int {
      let before = Shelf.conversions.value
      cache.cache.removeAll(inGroup: group)
      return Shelf.conversions.value - before
    }
    _ = await cache.values(forKeys: [500])
    let ofFew = conversions(of: 3)
    let failures = await cache.values(forKeys: Array(500..<700))
    let values = Task { await cache.values(forKeys: Array(0..<200)) }
    while cache.cache.flightCount < 400 || cache.cache.countedFlights < 400 { await Task.yield() }
    #expect(failures.count == 200)
    // Ten loads of that group, ten failures of the next one, and no group at all.
    #expect(conversions(of: 3) == ofFew && cache.statistics.outdated == 10)
    #expect(conversions(of: UInt8(55)) == ofFew && cache.cache.flightCount == 380)
    #expect(conversions(of: UInt64.max) == ofFew && cache.cache.flightCount == 380)
    gate.turnOn()
    #expect(await values.value.count == 200)
    #expect(cache.cache.count == 190 && cache.cache.count(inGroup: 3) == 0)
    cache.cache.checkInvariants()
  }
}
