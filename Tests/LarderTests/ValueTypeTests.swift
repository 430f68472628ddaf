// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Values of any type keep their bits, their alignment and their references.
@Suite("Value types")
struct ValueTypeTests {
  /// Stores, finds, lends, replaces, evicts and removes values made by `make`.
  private func roundTrip<Value: Sendable>(
    _ make: (Int) -> Value, _ matches: (Value, Int) -> Bool
  ) {
    byText(make, matches)
    for shards in [1, 4] {
      let cache = Cache<Int, Value>(countLimit: 200, shards: shards)
      for key in 0..<200 { #expect(cache.insert(make(key), forKey: key) == .inserted) }
      for key in 0..<200 {
        #expect(cache.value(forKey: key).map { matches($0, key) } == true)
        #expect(cache.withValue(forKey: key) { matches($0, key) } == true)
        #expect(cache.peek(forKey: key).map { matches($0, key) } == true)
      }
      for (key, value) in cache.values(forKeys: Array(0..<200)).enumerated() {
        #expect(value.map { matches($0, key) } == true)
      }
      for key in 0..<100 where cache.contains(key) {
        #expect(cache.updateValue(make(key + 7), forKey: key).map { matches($0, key) } == true)
        #expect(cache.removeValue(forKey: key).map { matches($0, key + 7) } == true)
      }
      for key in 200..<600 { cache[key] = make(key) }
      #expect(cache.count == 200)
      for element in cache.snapshot() { #expect(matches(element.value, element.key)) }
      cache.checkInvariants()
    }
  }

  /// Keys with memory of their own, so that lookups prefetch values, whatever the bits of these
  /// are.
  private func byText<Value: Sendable>(
    _ make: (Int) -> Value, _ matches: (Value, Int) -> Bool
  ) {
    let cache = Cache<String, Value>(countLimit: 200)
    let names = (0..<200).map { "\($0)" + String(repeating: " a long key", count: $0 % 3) }
    for key in 0..<200 { cache.insert(make(key), forKey: names[key]) }
    for key in 0..<200 {
      #expect(cache.value(forKey: names[key]).map { matches($0, key) } == true)
      #expect(cache.withValue(forKey: names[key]) { matches($0, key) } == true)
    }
    for (key, value) in cache.values(forKeys: names).enumerated() {
      #expect(value.map { matches($0, key) } == true)
    }
    for key in 0..<200 { cache[names[key] + "+"] = make(key + 7) }
    #expect(cache.count == 200)
  }

  final class Object: Sendable {
    let number: Int
    init(_ number: Int) { self.number = number }
  }

  enum TwoObjects: Sendable {
    case first(Object)
    case second(Object)
    case none
  }

  @Test("References may be nil or tagged, and other values may look like references")
  func referencesAndLookalikes() {
    roundTrip({ $0 % 2 == 0 ? Object($0) : nil }, { $0?.number == ($1 % 2 == 0 ? $1 : nil) })
    roundTrip(
      { $0 % 3 == 0 ? .none : $0 % 3 == 1 ? TwoObjects.first(Object($0)) : .second(Object($0)) },
      {
        switch $0 {
        case .first(let object): $1 % 3 == 1 && object.number == $1
        case .second(let object): $1 % 3 == 2 && object.number == $1
        case .none: $1 % 3 == 0
        }
      })
    #expect(EntryLayout<Int, Object>.valueIsReference)
    #expect(EntryLayout<Int, Object?>.valueIsReference)
    #expect(EntryLayout<Int, [Int]>.valueIsReference)
    #expect(!EntryLayout<Int, Int>.valueIsReference)
    #expect(!EntryLayout<Int, ObjectIdentifier>.valueIsReference)
    #expect(!EntryLayout<Int, String>.valueIsReference)
  }

  struct Plain: Sendable, Equatable {
    var number: Int
    var flag: Bool
    var text: String
  }

  enum Choice: Sendable, Equatable {
    case none
    case number(Int)
    case text(String)
    indirect case nested(Choice)
  }

  @Test("Structs and enums are found unchanged")
  func structsAndEnums() {
    roundTrip(
      { Plain(number: $0, flag: $0 % 2 == 0, text: "text \($0)") },
      { $0.number == $1 && $0.flag == ($1 % 2 == 0) && $0.text == "text \($1)" })
    let choice = { (number: Int) -> Choice in
      switch number % 4 {
      case 0: .none
      case 1: .number(number)
      case 2: .text(String(repeating: "t", count: number))
      default: .nested(.number(number))
      }
    }
    roundTrip(choice, { $0 == choice($1) })
  }

  @Test("Small integers are found unchanged")
  func smallIntegers() {
    roundTrip({ UInt8(truncatingIfNeeded: $0) }, { $0 == UInt8(truncatingIfNeeded: $1) })
    roundTrip({ $0 % 3 == 0 }, { $0 == ($1 % 3 == 0) })
    roundTrip({ UInt128($0) << 70 }, { $0 == UInt128($1) << 70 })
  }

  @Test("Strings and arrays are found unchanged")
  func stringsAndArrays() {
    roundTrip({ String(repeating: "s", count: $0) }, { $0.utf8.count == $1 })
    roundTrip({ Array(0..<$0) }, { $0.count == $1 && $0.last == ($1 == 0 ? nil : $1 - 1) })
    roundTrip({ [$0: "\($0)"] }, { $0 == [$1: "\($1)"] })
  }

  @Test("An optional value that is nil counts as a value")
  func nilIsAValue() {
    let cache = Cache<Int, Int?>()
    #expect(cache.insert(nil, forKey: 1) == .inserted)
    cache.insert(5, forKey: 2)
    #expect(cache.value(forKey: 1) == .some(.none))
    #expect(cache.value(forKey: 1) != nil)
    #expect(cache[2] == .some(.some(5)))
    #expect(cache[3] == .none)
    #expect(cache.contains(1) && !cache.contains(3))
    #expect(cache.withValue(forKey: 1) { $0 == nil } == true)
    #expect(cache.values(forKeys: [1, 2, 3]) == [.some(nil), .some(5), .none])
    #expect(cache.removeValue(forKey: 1) == .some(.none))
    #expect(cache.removeValue(forKey: 1) == .none)
    cache[2] = .some(nil)
    #expect(cache.count == 1 && cache[2] == .some(.none))
    cache[2] = .none
    #expect(cache.isEmpty)
    roundTrip({ $0 % 2 == 0 ? $0 : nil as Int? }, { $0 == ($1 % 2 == 0 ? $1 : nil) })
  }

  protocol Named: Sendable {
    var name: Int { get }
  }

  struct SmallNamed: Named { var name: Int }
  struct LargeNamed: Named {
    var name: Int
    var padding: (Int, Int, Int, Int, Int, Int) = (1, 2, 3, 4, 5, 6)
  }

  @Test("Existentials are found unchanged")
  func existentials() {
    roundTrip(
      { $0 % 2 == 0 ? SmallNamed(name: $0) : LargeNamed(name: $0) as any Named },
      { $0.name == $1 })
    roundTrip({ $0 as any Sendable }, { $0 as? Int == $1 })
    roundTrip({ "text \($0)" as any Sendable }, { $0 as? String == "text \($1)" })
    roundTrip({ ($0, "\($0)") as any Sendable }, { ($0 as? (Int, String))?.0 == $1 })
  }

  @Test("Objects are found and released once")
  func objectsAreReleasedOnce() {
    let tracker = LifetimeTracker()
    roundTrip({ tracker.make($0) }, { $0.isIntact && $0.payload == $1 })
    roundTrip(
      { tracker.make($0) as any AnyObject & Sendable }, { ($0 as? Tracked)?.payload == $1 })
    roundTrip({ (tracker.make($0), tracker.make(-$0)) }, { $0.0.payload == $1 && $0.1.isIntact })
    // The background thread may be destroying the last few values of a dropped cache.
    waitUntil("all values are released") { tracker.live == 0 }
    #expect(tracker.faults.isEmpty)
  }

  @Test("Closures and types are found unchanged")
  func closuresAndTypes() {
    roundTrip({ number in { @Sendable in number } }, { $0() == $1 })
    let type = { (number: Int) -> Any.Type in number % 2 == 0 ? Int.self : String.self }
    roundTrip(type, { $0 == type($1) })
    roundTrip({ ContiguousArray(repeating: $0, count: 3) }, { $0[2] == $1 })
  }

  @Test("Values without a size are counted, found and removed")
  func valuesOfNoSize() {
    struct Nothing: Sendable {}
    roundTrip({ _ in () }, { _, _ in true })
    roundTrip({ _ in Nothing() }, { _, _ in true })
    let cache = Cache<Int, Void>(countLimit: 10)
    for key in 0..<30 { cache[key] = () }
    #expect(cache.count == 10)
    #expect(cache[0] == nil)
    #expect(cache[29] != nil)
    let none = Cache<Empty, Void>()
    none[Empty()] = ()
    #expect(none.contains(Empty()) && none.count == 1)
  }

  struct Empty: Hashable, Sendable {}
}
