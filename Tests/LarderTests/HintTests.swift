// SPDX-License-Identifier: Apache-2.0
import CLarder
import Larder
import LarderTestSupport
import Testing

/// The references of entries, and the hints to them in the table, which `checkInvariants()`
/// compares.
@Suite("Hints", .timeLimit(.minutes(20)))
struct HintTests {
  /// A class of keys and values.
  final class Number: Hashable, Sendable {
    let number: Int
    init(_ number: Int) { self.number = number }
    static func == (a: Number, b: Number) -> Bool { a.number == b.number }
    func hash(into hasher: inout Hasher) { hasher.combine(number) }
  }

  /// Where the references of a pair lead.
  static func targets<Key, Value>(_ key: Key, _ value: Value) -> [UInt64] {
    typealias Layout = EntryLayout<Key, Value>
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 128, alignment: 16)
    defer { memory.deallocate() }
    let places = (
      (memory + Layout.keyOffset).initializeMemory(as: Key.self, to: key),
      (memory + Layout.valueOffset).initializeMemory(as: Value.self, to: value)
    )
    defer {
      places.0.deinitialize(count: 1)
      places.1.deinitialize(count: 1)
    }
    let entry = memory.assumingMemoryBound(to: lrd_entry.self)
    let references = Layout.references
    #expect(Layout.referencesFollowed == references.count)
    return [references.at.0, references.at.1].prefix(Int(references.count)).map {
      lrd_entry_refers_to(entry, $0)
    }
  }

  static func address(of object: AnyObject) -> UInt64 {
    UInt64(UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()))
  }

  @Test("References lead to what a hit reads")
  func referencesLeadToWhatAHitReads() throws {
    let text = String(repeating: "larder", count: 7)
    let bytes = try #require(
      text.utf8.withContiguousStorageIfAvailable { UInt64(UInt(bitPattern: $0.baseAddress)) })
    let object = Number(1)
    let target = Self.address(of: object)
    #expect(Self.targets(1, 2) == [])
    #expect(Self.targets(1, object) == [target])
    #expect(Self.targets(object, UInt8(3)) == [target])
    #expect(Self.targets(object, object) == [target, target])
    #expect(Self.targets(UInt16(1), text) == [bytes - 32])
    #expect(Self.targets(text, 1) == [bytes])
    #expect(Self.targets(text, object) == [bytes, target])
    #expect(Self.targets(text, text) == [bytes, bytes - 32])
  }

  /// Entries come, are replaced and leave, in tables that grow, overflow and shrink.
  private func play<Key: Hashable & Sendable, Value: Sendable>(
    _ key: (Int) -> Key, _ value: (Int) -> Value, shards: Int
  ) {
    var random = SplitMix64(seed: 3)
    let cache = Cache<Key, Value>(countLimit: 3_000, shards: shards)
    for step in 0..<Stress.scaled(20_000, atLeast: 2_000) {
      let number = random.below(5_000)
      switch random.below(16) {
      case 0: cache.removeValue(forKey: key(number))
      case 1: _ = cache.value(forKey: key(number))
      default: cache.insert(value(step), forKey: key(number))
      }
      if step % 1_000 == 0 { cache.checkInvariants() }
      if step % 7_000 == 6_999 { cache.trim(toCount: 20) }
    }
    cache.checkInvariants()
  }

  @Test("Every entry in a main bucket has its hints", arguments: [1, 4])
  func everyEntryHasItsHints(shards: Int) {
    let word: (Int) -> String = { "key \($0)" }  // Short enough for the string itself.
    let text: (Int) -> String = { "a key that is not within the string: \($0)" }
    play({ $0 }, Number.init, shards: shards)
    play(Number.init, { $0 }, shards: shards)
    play(Number.init, Number.init, shards: shards)
    play(word, Number.init, shards: shards)
    play(text, text, shards: shards)
    play(text, { [$0, $0] }, shards: shards)
  }
}
