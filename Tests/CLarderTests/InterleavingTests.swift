// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport
import LarderTestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

// Not under sanitizers: it steps through single instructions, most of which would be theirs.

/// One reader and one writer of the real table, at every point where one can stop the other.
///
/// Stops are single instructions, see lrdt_play.h. Each test runs in a process of its own.
@Suite("Interleavings", .timeLimit(.minutes(20)), .enabled(if: lrdt_play_available()))
struct InterleavingTests {
  /// The actions of the writer. Their numbers are those of items on the shelf.
  enum Write: CaseIterable {
    case insert, insertTwo
    case removeFirst, removeMiddle, removeLast, removeBoth
    case replaceFirst, replaceLast, replaceTwice
    case removeAndPutBack, removeAndInsert, removeAndReplace
    case moveBucket, moveBuckets, moveAll, moveAndInsert, moveAndRemove
    case empty, moveAndEmpty

    var moves: Bool {
      switch self {
      case .moveBucket, .moveBuckets, .moveAll, .moveAndInsert, .moveAndRemove, .moveAndEmpty: true
      default: false
      }
    }

    func acts(on shelf: Shelf, _ pattern: HashPattern) -> (lrdt_act, lrdt_act) {
      let (first, last) = (0, shelf.items.count - 1)
      func act(_ action: lrdt_action, _ subject: Int = 0) -> lrdt_act {
        let needsEntry = action == LRDT_REPLACE || action == LRDT_INSERT
        let fresh = needsEntry ? shelf.newEntry(shelf.items[subject].hash) : nil
        return lrdt_act(
          action: action, subject: subject, fresh: fresh, id: fresh?.pointee.prev ?? 0, page: nil,
          shift: 0)
      }
      func newItem(_ number: Int = 0) -> Int {
        shelf.announce(pattern.hash(shelf.items.count + number))
      }
      let nothing = act(LRDT_NOTHING)
      switch self {
      case .insert: return (act(LRDT_INSERT, newItem()), nothing)
      case .insertTwo: return (act(LRDT_INSERT, newItem()), act(LRDT_INSERT, newItem()))
      case .removeFirst: return (act(LRDT_REMOVE, first), nothing)
      case .removeMiddle: return (act(LRDT_REMOVE, last / 2), nothing)
      case .removeLast: return (act(LRDT_REMOVE, last), nothing)
      case .removeBoth: return (act(LRDT_REMOVE, last), act(LRDT_REMOVE, first))
      case .replaceFirst: return (act(LRDT_REPLACE, first), nothing)
      case .replaceLast: return (act(LRDT_REPLACE, last), nothing)
      case .replaceTwice: return (act(LRDT_REPLACE, last), act(LRDT_REPLACE, last))
      case .removeAndPutBack: return (act(LRDT_REMOVE, last), act(LRDT_INSERT, last))
      case .removeAndInsert: return (act(LRDT_REMOVE, first), act(LRDT_INSERT, newItem()))
      case .removeAndReplace: return (act(LRDT_REMOVE, first), act(LRDT_REPLACE, last))
      case .moveBucket: return (act(LRDT_MOVE_BUCKET), nothing)
      case .moveBuckets: return (act(LRDT_MOVE_BUCKET), act(LRDT_MOVE_BUCKET))
      case .moveAll: return (act(LRDT_MOVE_ALL), nothing)
      case .moveAndInsert: return (act(LRDT_MOVE_BUCKET), act(LRDT_INSERT, newItem()))
      case .moveAndRemove: return (act(LRDT_MOVE_BUCKET), act(LRDT_REMOVE, first))
      case .empty: return (act(LRDT_EMPTY), nothing)
      case .moveAndEmpty: return (act(LRDT_MOVE_BUCKET), act(LRDT_EMPTY))
      }
    }
  }

  /// A shelf before the write.
  struct Scene: CustomStringConvertible {
    let pattern: HashPattern
    let filling: Int
    /// The sizes of the tables. The second is 0 if nothing moves.
    let from: Int, to: Int
    let moved: Int

    func build() -> Shelf {
      let shelf = Shelf(buckets: from)
      for number in 0..<filling { shelf.insert(pattern.hash(number)) }
      if to > 0 {
        _ = shelf.startMove(to: to)
        for _ in 0..<moved { _ = shelf.moveBucket() }
      }
      shelf.addSpareChunks()
      return shelf
    }

    var description: String {
      "\(pattern), \(filling) entries, \(from) to \(to) buckets, \(moved) moved"
    }

    /// Scenes with a table that moves, or does not, for a write that moves it, or does not.
    static func all(_ pattern: HashPattern, fillings: [Int], for write: Write) -> [Scene] {
      let moves = [(1, 2, 0), (2, 1, 0), (2, 1, 1), (3, 4, 0), (3, 4, 2)]
      let sizes = write.moves ? moves : [(1, 0, 0), (2, 1, 1), (3, 4, 2)]
      return fillings.flatMap { filling in
        sizes.map {
          Scene(pattern: pattern, filling: filling, from: $0.0, to: $0.1, moved: $0.2)
        }
      }
    }
  }

  enum Hashes: String, CaseIterable, Codable, Sendable {
    case oneBucket, oneTag, spread

    var pattern: HashPattern {
      switch self {
      case .oneBucket: .oneBucket
      case .oneTag: .oneTag
      case .spread: .spread
      }
    }
  }

  // A stop costs microseconds, in a lookup a child process, and unoptimized code has ten times the
  // instructions. So it gets fewer fillings, and a smaller sample of the stops in a lookup.
  #if DEBUG
    private static let fillings = [12, 23]
    private static let stride = 96
  #else
    private static let fillings = [2, 12, 23, 34]
    private static let stride = 4
  #endif

  @Test(
    "After each instruction of a write, lookups find everything they must",
    arguments: Hashes.allCases)
  func readsDuringWrites(hashes: Hashes) async {
    await #expect(processExitsWith: .success) { [hashes = hashes as Hashes] in
      for (seed, write) in Write.allCases.enumerated() {
        let scenes = Scene.all(hashes.pattern, fillings: Self.fillings, for: write)
        for scene in Stress.sample(scenes, seed: seed) {
          let shelf = scene.build()
          let acts = write.acts(on: shelf, scene.pattern)
          if let fault = shelf.playReads(acts) { fatalError("\(fault): \(write), \(scene)") }
          if let fault = shelf.fault() { fatalError("\(fault) behind \(write), \(scene)") }
        }
      }
    }
  }

  @Test(
    "A write with reclamation is right at each instruction of a lookup",
    arguments: [Hashes.oneBucket, .oneTag])
  func writesDuringReads(hashes: Hashes) async {
    await #expect(processExitsWith: .success) { [hashes = hashes as Hashes] in
      var offset = 0
      for (seed, write) in Write.allCases.enumerated() {
        let scenes = Scene.all(hashes.pattern, fillings: [12, 23], for: write)
        for scene in Stress.sample(scenes, seed: seed) {
          for item in [0, scene.filling - 1] {
            offset += 7
            let shelf = scene.build()
            let acts = write.acts(on: shelf, scene.pattern)
            let (fault, stops) = shelf.playWrites(
              acts, item: item, from: 1 + offset % Self.stride, by: Self.stride)
            if let fault { fatalError("\(fault) of the lookup of \(item): \(write), \(scene)") }
            precondition(stops > 0, "a lookup has more instructions")
          }
        }
      }
    }
  }

  @Test("A page whose number is used again does not mislead a lookup at any instruction")
  func pagesRenewedDuringReads() async {
    await #expect(processExitsWith: .success) {
      let scene = Scene(pattern: .spread, filling: 12, from: 2, to: 0, moved: 0)
      let shelf = scene.build()
      let (fault, renewals) = shelf.playWrites(shelf.renewal(of: 3), item: 3, from: 1, by: 1)
      if let fault { fatalError(fault) }
      precondition(renewals > 20, "a lookup has more instructions")
    }
  }
}
