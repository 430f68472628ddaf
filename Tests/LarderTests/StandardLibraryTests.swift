// SPDX-License-Identifier: Apache-2.0
import Larder
import Testing

/// Whether the standard library still is what the library takes it for beyond its documentation.
/// Where one of these fails with a new toolchain, `-D LARDER_DOCUMENTED` is the way out.
@Suite("The standard library")
struct StandardLibraryTests {
  private struct Point: Hashable { var x, y: Int }
  private final class Object {}
  private struct Box { var object: Object }
  private enum Colour: Hashable {
    case red
    case mixed([Int])
  }

  private func isHash<Key: Hashable>(_ first: Key, _ same: Key, _ other: Key) {
    let seeds = [0, 1, .max, .min]
    for seed in seeds {
      #expect(
        StandardLibrary.hash(first, seed: seed) == StandardLibrary.hash(same, seed: seed),
        "\(Key.self): equal keys have equal hashes")
      #expect(
        StandardLibrary.hash(first, seed: seed) != StandardLibrary.hash(other, seed: seed),
        "\(Key.self): different keys have different ones")
    }
    let hashes = Set(seeds.map { StandardLibrary.hash(first, seed: $0) })
    #expect(hashes.count == seeds.count, "\(Key.self): the seed counts")
  }

  @Test("Keys of all kinds are hashed by their contents and a seed")
  func hashes() {
    isHash("text that is long enough", "text that is " + "long enough", "text that is long")
    isHash("e\u{301}", "\u{e9}", "e")
    isHash(0.0, -0.0, 1.0)
    isHash([1, 2, 3], Array(1...3), [1, 2])
    isHash(Point(x: 1, y: 2), Point(x: 1, y: 2), Point(x: 2, y: 1))
    isHash(Colour.mixed([1]), .mixed([1]), .red)
    isHash(Optional(1), 1, nil)
    isHash(AnyHashable(1), AnyHashable(1.0), AnyHashable("1"))
  }

  @Test("Types of one word are told apart by whether they count references")
  func references() {
    #expect(StandardLibrary.isTrivial(Int.self))
    #expect(StandardLibrary.isTrivial(UnsafeRawPointer?.self))
    #expect(!StandardLibrary.isTrivial(Object.self))
    #if !LARDER_DOCUMENTED
      #expect(!StandardLibrary.isTrivial(Box.self))
      #expect(!StandardLibrary.isTrivial([Int].self))
    #endif
  }

  #if !LARDER_DOCUMENTED && _pointerBitWidth(_64)
    @Test("The bytes of a long string begin where a lookup prefetches them")
    func stringBytes() {
      let text = String(repeating: "long ", count: 20)
      let words = unsafeBitCast(text, to: (UInt, UInt).self)
      // The top four bits tell what kind of string it is.
      let object = words.1 & (1 << 60 - 1)
      let bytes = text.utf8.withContiguousStorageIfAvailable { UInt(bitPattern: $0.baseAddress!) }
      #expect(bytes == object + UInt(StandardLibrary.offsetOfStringBytes))
    }
  #endif
}
