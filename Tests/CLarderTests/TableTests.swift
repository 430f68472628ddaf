// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport
import LarderTestSupport
import Testing

/// The relation of the hashes of a test's entries.
enum HashPattern: CaseIterable, Sendable {
  /// All bits equal.
  case equal
  /// One bucket, distinct tags.
  case oneBucket
  /// One bucket and one tag, so only the entry itself tells them apart.
  case oneTag
  /// All over the table.
  case spread
  /// Two hashes in turn, in different buckets of any table but the smallest.
  case pair

  func hash(_ number: Int) -> UInt64 {
    let number = UInt64(number)
    switch self {
    case .equal: return 0x1234_5678_9abc_def1
    case .oneBucket: return 0x1234_0000_0000_0001 | number << 24
    case .oneTag: return 0x1234_0000_4300_0001 | number << 32
    case .spread: return (number &* 0x9e37_79b9_7f4a_7c15) | 1
    case .pair: return number % 2 == 0 ? 0x0000_0042_0000_0007 : 0xffff_ff42_0000_0009
    }
  }
}

@Suite("Tables", .timeLimit(.minutes(20)))
struct TableTests {
  enum Step: CaseIterable, Sendable {
    case insert, putBack
    case removeFirst, removeMiddle, removeLast
    case replaceFirst, replaceLast
    case moveBucket, startGrowth, startShrinking

    /// False if the step has no meaning now.
    func apply(to shelf: Shelf, _ pattern: HashPattern) -> Bool {
      let present = shelf.present
      switch self {
      case .insert:
        shelf.insert(pattern.hash(shelf.items.count))
      case .putBack:
        guard let gone = shelf.items.indices.first(where: { !shelf.items[$0].present }) else {
          return false
        }
        shelf.putBack(gone)
      case .removeFirst, .removeMiddle, .removeLast:
        if present.isEmpty { return false }
        let place = self == .removeFirst ? 0 : self == .removeLast ? present.count - 1 : -1
        shelf.remove(present[place < 0 ? present.count / 2 : place])
      case .replaceFirst, .replaceLast:
        if present.isEmpty { return false }
        shelf.replace(present[self == .replaceFirst ? 0 : present.count - 1])
      case .moveBucket: return shelf.moveBucket()
      case .startGrowth:
        // Both ways that tables grow, without another step that doubles the search.
        return shelf.startMove(to: shelf.buckets * (shelf.items.count % 2 == 0 ? 2 : 4))
      case .startShrinking:
        if shelf.buckets == 1 { return false }
        return shelf.startMove(to: shelf.buckets * 2 / 3)
      }
      return true
    }
  }

  /// Chains of zero to four buckets, with each bucket at, before and after its last cell.
  static let fillings = [0, 1, 6, 7, 8, 13, 14, 15, 21, 22, 29]

  // Not under ThreadSanitizer: one thread drives a table that no other has.
  @Test(
    "Every script of three steps agrees with a set",
    arguments: HashPattern.allCases, [1, 2, 3, 4])
  func everyScript(pattern: HashPattern, buckets: Int) {
    var scripts = 0
    for filling in Self.fillings {
      func extend(_ script: [Step]) {
        // Where the work is scaled down, of the third steps only some.
        let divisor = script.count == 2 ? min(Stress.divisor, 5) : 1
        for step in Stress.sample(Step.allCases, seed: scripts, divisor: divisor) {
          let shelf = Shelf(buckets: buckets)
          for number in 0..<filling { shelf.insert(pattern.hash(number)) }
          _ = shelf.fault()
          let longer = script + [step]
          var place = 0
          // Prefixes were checked when they were scripts, but moves are checked at every step.
          while place < longer.count && longer[place].apply(to: shelf, pattern) {
            if let fault = shelf.fault() {
              Issue.record("\(fault): \(filling) entries, then \(longer[...place])")
              return
            }
            place += 1
          }
          guard place == longer.count else { continue }
          scripts += 1
          if longer.count < 3 { extend(longer) }
        }
      }
      extend([])
    }
    #expect(scripts > 1_000)
  }

  @Test(
    "Moves between tables of any two sizes are right after every bucket",
    arguments: HashPattern.allCases, [1, 2, 3, 4, 5, 7, 8])
  func movesBetweenSizes(pattern: HashPattern, from: Int) {
    for to in [1, 2, 3, 4, 5, 6, 8, 13, 16, 29] {
      for filling in [0, 5, 7, 8, 30, 64] {
        let shelf = Shelf(buckets: from)
        for number in 0..<filling { shelf.insert(pattern.hash(number)) }
        #expect(shelf.fault() == nil)
        #expect(shelf.startMove(to: to))
        var moved = 0
        while shelf.moves {
          #expect(Int(lrdt_table_moved_locked(shelf.root)) == moved)
          #expect(shelf.moveBucket())
          moved += 1
          if let fault = shelf.fault() {
            Issue.record("\(fault): \(filling) entries, \(from) to \(to), after \(moved) buckets")
            return
          }
        }
        #expect(moved == from && shelf.buckets == to)
      }
    }
  }

  @Test("Writes are right while a table moves", arguments: HashPattern.allCases, 0..<4)
  func writesDuringMoves(pattern: HashPattern, seed: Int) {
    for round in 0..<Stress.scaled(12, atLeast: 3) {
      var random = SplitMix64(seed: UInt64(seed * 1_000 + round))
      let shelf = Shelf(buckets: random.below(6) + 1)
      for _ in 0..<120 {
        let step: Step
        switch random.below(12) {
        case 0..<5: step = .insert
        case 5..<8: step = .removeMiddle
        case 8: step = .removeFirst
        case 9: step = .replaceLast
        case 10: step = random.below(2) == 0 ? .startGrowth : .startShrinking
        default: step = .moveBucket
        }
        if shelf.present.count > 60 || shelf.buckets > 64 { break }
        _ = step.apply(to: shelf, pattern)
        if let fault = shelf.fault() {
          Issue.record("\(fault): seed \(seed), round \(round)")
          return
        }
      }
    }
  }

  @Test("Overflow buckets come in chunks and are used again")
  func overflowBucketsAreReused() {
    let shelf = Shelf(buckets: 1)
    for wave in 0..<4 {
      while shelf.present.count < 400 {
        shelf.insert(HashPattern.oneBucket.hash(shelf.items.count % 500))
      }
      #expect(shelf.fault() == nil)
      #expect(Int(lrdt_table_overflow_used_locked(shelf.root)) == (400 - 11 + 10) / 11)
      // 4 behind the bucket, then 4, 8, 16, 32. One more chunk would be waste.
      #expect(shelf.chunksAdded == 4 && lrdt_table_chunks_locked(shelf.root) == 4, "wave \(wave)")
      for number in shelf.present.shuffled() { shelf.remove(number) }
      #expect(shelf.fault() == nil)
      #expect(lrdt_table_overflow_used_locked(shelf.root) == 0)
    }
  }

  @Test("A chain that has moved leaves its overflow buckets to those that have not")
  func movedChainsGiveBack() {
    let shelf = Shelf(buckets: 2)
    for number in 0..<30 { shelf.insert(HashPattern.oneBucket.hash(number)) }
    let root = shelf.root
    #expect(lrdt_table_overflow_used_locked(root) == 2)
    #expect(shelf.startMove(to: 4) && shelf.moveBucket() && shelf.moves)
    #expect(lrdt_table_overflow_used_locked(root) == 0)
    #expect(shelf.fault() == nil)
  }

  @Test("A bucket's entries go to neighbouring buckets of a table of any other size")
  func entriesMoveToNeighbours() {
    var random = SplitMix64(seed: 5)
    let sizes = Array(1...40) + [64, 100, 1_000, 4_096, 1 << 20, 3 << 20]
    let tables = sizes.map {
      (size: UInt64($0), table: lrd_table_create(UInt64($0), lrdt_two_references())!)
    }
    defer { for entry in tables { lrd_table_destroy(entry.table) } }
    var hashes = (0..<300).map { _ in random.next() } + [0, .max, 1 << 63, (1 << 63) - 1, 0xffff]
    for (size, _) in tables {  // Both sides of the border between the first buckets and the last.
      hashes += [.max / size, .max / size &+ 1, .max - .max / size, .max - .max / size &- 65_536]
    }
    hashes.sort()
    for (size, table) in tables {
      var before: UInt64 = 0
      for hash in hashes {
        let index = lrd_table_index(table, hash)
        #expect(index < size)
        #expect(index >= before, "in the order of the hashes")
        #expect(index == lrd_table_index(table, hash & ~0xffff), "the tag has no say")
        before = index
        for (other, successor) in tables {
          let place = lrd_table_index(successor, hash)
          let first = index.multipliedFullWidth(by: other)
          let end = (index + 1).multipliedFullWidth(by: other)
          let low = size.dividingFullWidth((first.high, first.low)).quotient
          let high = size.dividingFullWidth((end.high, end.low)).quotient
          #expect((low...high).contains(place))
        }
      }
    }
  }

  @Test("A table made in advance has all its memory, overflow buckets included")
  func memoryInAdvance() {
    let table = lrd_table_create(100_000, lrdt_two_references())!
    defer { lrd_table_destroy(table) }
    #expect(!lrdt_table_is_resident(table))
    lrd_table_prefault(table, { _ in }, UnsafeMutableRawPointer(table))
    #expect(lrdt_table_is_resident(table))
  }
}
