// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport

/// One shard whose table a test drives step by step, and what should be in it.
///
/// Entries go through the core's own link, unlink and replace. The table is made and moved by hand.
final class Shelf {
  let cache: OpaquePointer
  let shard: OpaquePointer
  let lane: OpaquePointer
  private let pool: OpaquePointer
  private var removed = lrd_chain()
  private(set) var items: [lrdt_item] = []
  private(set) var chunksAdded = 0

  /// A table whose entries have two references, so that hints are kept and checked.
  private static func newTable(_ buckets: Int) -> OpaquePointer {
    lrd_table_create(UInt64(buckets), lrdt_two_references())!
  }

  /// An empty shard with a table of `buckets` buckets.
  init(buckets: Int) {
    cache = lrdt_cache_create(1, 48)!
    shard = lrd_cache_shard_at(cache, 0)
    lane = lrd_lane_attach(cache)!
    pool = lrdt_cache_pool(cache)
    let table = Self.newTable(buckets)
    lrd_table_make_ready(table)
    lrd_growth_start_locked(shard, table)
  }

  deinit { lrd_cache_close(cache) }

  var root: OpaquePointer { lrdt_shard_root(shard) }
  var moves: Bool { lrd_growth_moves_locked(shard) }
  var buckets: Int { Int(lrdt_table_buckets(root)) }
  var present: [Int] { items.indices.filter { items[$0].present } }

  func newEntry(_ hash: UInt64) -> UnsafeMutablePointer<lrd_entry> {
    let entry = lrd_slot_take(cache, lane, 0)!
    lrd_entry_describe(entry, hash, 0)
    lrdt_entry_key(entry).pointee = hash
    return entry
  }

  /// An item that is not linked yet.
  private func newItem(_ hash: UInt64) -> lrdt_item {
    let entry = newEntry(hash)
    return lrdt_item(
      entry: entry, id: entry.pointee.prev, hash: hash, present: false, cell: nil, head: nil,
      link: 0)
  }

  /// The step of an insertion before it links: room for one overflow bucket in the table of the
  /// hash.
  func makeRoom(_ hash: UInt64) {
    let home = lrd_table_home_locked(root, hash)
    if lrd_table_overflow_left_locked(home) == 0 { addChunk(home) }
  }

  private func addChunk(_ table: OpaquePointer) {
    let bytes = lrd_table_next_chunk_bytes(table)
    let chunk = lrd_alloc(bytes, 64)!
    precondition(lrd_table_add_overflow_locked(table, OpaquePointer(chunk), bytes))
    chunksAdded += 1
  }

  /// Adds an item. Its number is its index in `items`.
  @discardableResult func insert(_ hash: UInt64) -> Int {
    items.append(linked(hash))
    return items.count - 1
  }

  /// Adds a removed item's hash again, as another entry.
  func putBack(_ number: Int) {
    items[number] = linked(items[number].hash)
  }

  private func linked(_ hash: UInt64) -> lrdt_item {
    var item = newItem(hash)
    makeRoom(hash)
    lrd_shard_link_locked(shard, item.entry, hash)
    item.present = true
    return item
  }

  /// Adds an item whose entry is not inserted yet.
  func announce(_ hash: UInt64) -> Int {
    items.append(newItem(hash))
    return items.count - 1
  }

  /// Gives both tables as many overflow buckets as any two acts may need.
  func addSpareChunks() {
    addChunk(root)
    if let next = lrdt_table_next(root) { for _ in 0..<3 { addChunk(next) } }
  }

  /// The write that renews an item's page.
  func renewal(of number: Int) -> (lrdt_act, lrdt_act) {
    items.withUnsafeBufferPointer {
      (lrdt_play_renewal(cache, $0.baseAddress! + number), lrdt_act())
    }
  }

  /// Plays `acts`, and looks every item up after each of their instructions.
  func playReads(_ acts: (lrdt_act, lrdt_act)) -> String? {
    items.withUnsafeMutableBufferPointer { items in
      var play = lrdt_play(
        cache: cache, lane: lane, items: items.baseAddress!, count: items.count, acts: acts)
      return lrdt_play_reads(&play).map(String.init(cString:))
    }
  }

  /// Plays `acts` after instruction `first` of a lookup of one item, and after each `stride`-th
  /// from there, each time by a child process. Returns the number of these and, if one found a
  /// fault, what it was and where.
  func playWrites(
    _ acts: (lrdt_act, lrdt_act), item: Int, from first: Int, by stride: Int
  ) -> (fault: String?, stops: Int) {
    items.withUnsafeMutableBufferPointer { items in
      var play = lrdt_play(
        cache: cache, lane: lane, items: items.baseAddress!, count: items.count, acts: acts)
      var stops: UInt64 = 0
      let fault = lrdt_play_writes(&play, item, UInt64(first), UInt64(stride), &stops)
      let last = first + (Int(stops) - 1) * stride
      return (fault.map { "\(String(cString: $0)) at instruction \(last)" }, Int(stops))
    }
  }

  func remove(_ number: Int) {
    lrd_shard_unlink_locked(
      shard, items[number].entry, UInt8(LRD_REMOVED_BY_CALL.rawValue), &removed)
    items[number].present = false
    items[number].cell = nil
  }

  /// Publishes a new entry in an item's cell.
  func replace(_ number: Int) {
    let successor = newItem(items[number].hash)
    lrd_shard_replace_locked(
      shard, items[number].entry, successor.entry, successor.hash, &removed)
    items[number].entry = successor.entry
    items[number].id = successor.id
  }

  /// Starts moving to a table of another size. False if a move is under way.
  func startMove(to buckets: Int) -> Bool {
    if moves { return false }
    lrd_growth_start_locked(shard, Self.newTable(buckets))
    return true
  }

  /// Moves one bucket. Adds overflow buckets first, as often as the core asks for them.
  func moveBucket() -> Bool {
    guard moves else { return false }
    while !lrd_growth_move_locked(shard, 1) { addChunk(lrdt_table_next(root)!) }
    return true
  }

  /// What a lookup gets wrong, or `nil`. Also recomputes the invariants of the core.
  func fault() -> String? {
    lrd_shard_check(shard)
    return items.withUnsafeMutableBufferPointer { items in
      guard let first = items.baseAddress else { return nil }
      return lrdt_items_check(cache, lane, first, items.count).map(String.init(cString:))
    }
  }
}
