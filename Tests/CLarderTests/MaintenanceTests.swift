// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport
import Larder
import LarderTestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The background thread works without any call that asks for it, and then sleeps. It belongs to
/// the process, so each test runs in a process of its own. Such exit tests capture their arguments
/// by a list like `[shards = shards as Int]`.
@Suite("Maintenance", .timeLimit(.minutes(20)))
struct MaintenanceTests {
  @Test("Removed entries are destroyed even if no call comes any more", arguments: [1, 4])
  func destroysRemovedEntries(shards: Int) async {
    await #expect(processExitsWith: .success) { [shards = shards as Int] in
      let tracker = LifetimeTracker()
      let cache = Cache<Int, Tracked>(shards: shards)
      let sleeper = Sleeper { _ = cache.value(forKey: 0) }
      for round in 0..<5 {
        for key in 0..<60 { cache[key] = tracker.make(key) }
        if round % 2 == 1 { cache.removeAll() }
        let left = round % 2 == 1 ? 0 : 60
        waitUntil("the background thread destroys what was removed") { tracker.live == left }
      }
      sleeper.join()
    }
  }

  @Test("An entry on loan is destroyed soon after it is given back")
  func destroysReturnedLoans() async {
    await #expect(processExitsWith: .success) {
      let tracker = LifetimeTracker()
      let cache = Cache<Int, Tracked>()
      cache[1] = tracker.make(1)
      let stage = Protected(0)
      let thread = RealThread {
        cache.withValue(forKey: 1) { _ in
          stage.withLock { $0 = 1 }
          waitUntil("the loan is called in") { stage.withLock { $0 == 2 } }
        }
        stage.withLock { $0 = 3 }
        waitUntil("the thread is let go") { stage.withLock { $0 == 4 } }
      }
      waitUntil("the loan is out") { stage.withLock { $0 == 1 } }
      cache[1] = nil
      sleepBriefly()
      precondition(tracker.live == 1, "the lent value died")
      stage.withLock { $0 = 2 }
      waitUntil("the value dies") { tracker.live == 0 }
      stage.withLock { $0 = 4 }
      thread.join()
    }
  }

  @Test("An entry removed during a visit of the background thread is destroyed by the next visit")
  func visitsAgain() async {
    await #expect(processExitsWith: .success) {
      let tracker = LifetimeTracker()
      let cache = Cache<Int, Tracked>(shards: 2)
      let sleeper = Sleeper { _ = cache.value(forKey: 0) }
      // Keys by shard. The second shard is visited last, and then nobody looks at the first again.
      let keys = (0..<100).reduce(into: [[Int](), []]) { keys, key in
        cache[key] = tracker.make()
        keys[lrdt_shard_count(lrd_cache_shard_at(cache.inside, 1)) > 0 ? 1 : 0].append(key)
        cache[key] = nil
      }
      waitUntil("all is destroyed") { tracker.live == 0 }
      for visited in keys[1].prefix(5) {
        let stage = Protected(0)
        cache[visited] = tracker.make {
          stage.withLock { $0 = 1 }
          waitUntil("the visit may end") { stage.withLock { $0 == 2 } }
        }
        cache[visited] = nil
        waitUntil("the background thread destroys") { stage.withLock { $0 == 1 } }
        for key in keys[0].prefix(20) {
          cache[key] = tracker.make()
          cache[key] = nil
        }
        precondition(tracker.live > 1, "destroyed by whoever removed it")
        stage.withLock { $0 = 2 }
        waitUntil("all is destroyed") { tracker.live == 0 }
      }
      sleeper.join()
    }
  }

  @Test("A table far too large for the entries left is shrunk", arguments: [1, 4])
  func shrinksLargeTables(shards: Int) async {
    await #expect(processExitsWith: .success) { [shards = shards as Int] in
      let cache = Cache<Int, Int>(shards: shards)
      for removal in 0..<3 {
        for key in 0..<20_000 { cache[key] = key }
        let buckets = cache.bucketCount
        precondition(buckets > 2_000)
        switch removal {
        case 0: for key in 100..<20_000 { cache[key] = nil }
        case 1: cache.trim(toCount: 100)
        default: cache.removeAll { key, _ in key >= 100 }
        }
        waitUntil("the tables shrink") { cache.bucketCount < 300 }
        precondition(cache.count == 100)
        cache.checkInvariants()
        if removal != 1 { precondition((0..<100).allSatisfy { cache[$0] == $0 }) }
      }
    }
  }

  @Test("A table emptied while it grows is shrunk as well", arguments: [1, 4])
  func shrinksMovingTables(shards: Int) async {
    await #expect(processExitsWith: .success) { [shards = shards as Int] in
      let cache = Cache<Int, Int>(shards: shards)
      var key = 0
      // Some thousand entries, and then until a full table begins to move.
      while key < 4_160 * shards || !cache.isMoving {
        cache[key] = key
        key += 1
      }
      for key in 10..<key { cache[key] = nil }
      waitUntil(deadline: 10, "the tables shrink") { cache.bucketCount <= 16 * shards }
      cache.checkInvariants()
      precondition((0..<10).allSatisfy { cache[$0] == $0 })
    }
  }

  @Test("A table with one long chain is shrunk as well")
  func shrinksLongChains() async {
    await #expect(processExitsWith: .success) {
      let cache = Cache<Collider, Int>()
      for key in 0..<1_000 { cache[Collider(key)] = key }
      for key in 100..<1_000 { cache[Collider(key)] = nil }
      // The chain needs more overflow buckets than a small table brings along.
      waitUntil(deadline: 10, "the table shrinks") { cache.bucketCount < 100 }
      cache.checkInvariants()
      precondition((0..<100).allSatisfy { cache[Collider($0)] == $0 })
    }
  }

  @Test("A table shrinks at once, even if a thread goes on inserting a little")
  func shrinksBesideWriters() async {
    await #expect(processExitsWith: .success) {
      let cache = Cache<Int, Int>(shards: 1)
      for key in 0..<200_000 { cache[key] = key }
      cache.trim(toCount: 100)
      // Each insertion moves a bucket, so it would take 32,768 of them.
      var key = 200_000
      waitUntil("the table shrinks") {
        cache[key] = key
        key += 1
        return cache.bucketCount < 2_000
      }
      precondition(key < 220_000, "the table was left to \(key - 200_000) insertions")
      cache.checkInvariants()
    }
  }

  @Test("A large table has its successor before it is full, and is freed in the background")
  func makesSuccessorsAhead() async {
    await #expect(processExitsWith: .success) {
      let cache = Cache<Int, Int>(shards: 1)
      // 8 * 16384 entries fill the first large table. A thread asks for the next one at seven
      // eighths.
      for key in 0..<114_688 { cache[key] = key }
      precondition(cache.bucketCount == 16_384)
      cache[114_688] = 114_688
      waitUntil("the successor is there") { cache.bucketCount == 32_768 }
      // Nobody writes, so the background thread moves everything.
      waitUntil("the table has moved") { !cache.isMoving }
      waitUntil("the table is freed") { cache.retiredTables == 0 }
      cache.checkInvariants()
      // The next table grows while insertions move it.
      for key in 114_689..<275_000 { cache[key] = key }
      waitUntil("the table is freed") { !cache.isMoving && cache.retiredTables == 0 }
      precondition(cache.bucketCount == 65_536)
      cache.checkInvariants()
      precondition((0..<275_000).allSatisfy { cache[$0] == $0 })
    }
  }

  @Test("A table is shrunk even if memory was missing at first")
  func shrinksWithoutMemoryAtFirst() async {
    await #expect(processExitsWith: .success) {
      let cache = Cache<Int, Int>(shards: 1)
      for key in 0..<20_000 { cache[key] = key }
      waitUntil("the table has moved") { !cache.isMoving && cache.retiredTables == 0 }
      // The next allocation of the core is that of the smaller table.
      lrd_alloc_fail_after(0)
      cache.trim(toCount: 100)
      waitUntil(deadline: 10, "the table shrinks") { cache.bucketCount < 300 }
    }
  }

  @Test("A reader that sleeps in one cache does not delay visits to another")
  func pausesByCache() async {
    await #expect(processExitsWith: .success) {
      let tracker = LifetimeTracker()
      let lent = Cache<Int, Int>(shards: 1)
      let other = Cache<Int, Tracked>(shards: 1)
      lent[0] = 0
      let stage = Protected(0)
      let reader = RealThread {
        _ = lent.value(forKey: 0)
        lent.withValue(forKey: 0) { _ in
          stage.withLock { $0 = 1 }
          waitUntil("the loan is called in") { stage.withLock { $0 == 2 } }
        }
      }
      waitUntil("the loan is out") { stage.withLock { $0 == 1 } }
      lent[0] = nil
      let visited = lrd_cache_shard_at(lent.inside, 0)
      let first = lrdt_shard_ticket(visited)
      waitUntil("the cache with the loan is visited") { lrdt_shard_ticket(visited) != first }
      // Each visit draws a ticket for the lent entry. While it pauses, others go on.
      waitUntil(deadline: 10, "the other cache is visited alone") {
        let before = lrdt_shard_ticket(visited)
        other[0] = tracker.make()
        other[0] = nil
        waitUntil("the value dies") { tracker.live == 0 }
        return lrdt_shard_ticket(visited) == before
      }
      stage.withLock { $0 = 2 }
      reader.join()
    }
  }

  @Test("A cache whose writers clean up themselves is visited more rarely")
  func restsFromBusyWriters() async {
    await #expect(processExitsWith: .success) {
      let cache = Cache<Int, Int>(countLimit: 1_000, shards: 1)
      let sleeper = Sleeper { _ = cache.value(forKey: 0) }
      let shard = lrd_cache_shard_at(cache.inside, 0)
      var visits = 0
      var last = UInt64.max
      var key = 0
      let start = Clock.now
      while visits < 50 {
        for _ in 0..<100 {
          cache[key] = key
          key += 1
        }
        let visited = lrdt_shard_visited(shard)
        visits += visited == last ? 0 : 1
        last = visited
      }
      // Four milliseconds lie between visits, and one where the writer had to stop meanwhile.
      precondition(Clock.now - start > 50 * 2_000_000, "the background thread never rests")
      sleeper.join()
    }
  }

  @Test("The tables of all shards are freed after removeAll()")
  func freesAllTables() async {
    await #expect(processExitsWith: .success) {
      let cache = Cache<Int, Int>(shards: 4)
      // So few that no table has grown, and nobody has asked for a visit.
      for key in 0..<16 { cache[key] = key }
      cache.removeAll()
      waitUntil(deadline: 10, "the tables are freed") { cache.retiredTables == 0 }
    }
  }

  @Test("With nothing to do, the background thread does not run")
  func sleepsWithNothingToDo() async {
    await #expect(processExitsWith: .success) {
      guard Self.tasks() != nil else { return print("skipped: there is no /proc/self/task") }
      let before = Self.tasks()!
      let tracker = LifetimeTracker()
      let cache = Cache<Int, Tracked>()
      // The thread that listens for memory pressure. It must not run either.
      let listening = Set(Self.tasks()!.keys)
      let number = Protected(0)
      let sleeper = Sleeper {
        _ = cache.value(forKey: 0)
        number.withLock { $0 = Self.ownTask() }
      }
      for key in 0..<600 { cache[key % 10] = tracker.make(key) }
      waitUntil("the background thread has worked") { tracker.live == 10 }
      // The sleeper polls, so its number is left out. The others were there before.
      let known = Set(before.keys).union([Int(getpid())])
      let polling = number.withLock { $0 }
      precondition(Self.tasks()![polling] != nil, "the sleeper is among them")
      let news = Self.tasks()!.keys.filter { !known.contains($0) && $0 != polling }
      precondition(news.count > listening.subtracting(known).count, "no background thread")
      // A thread that is about to sleep may still be counted.
      waitUntil("the background thread parks") {
        let counts = news.map { Self.tasks()![$0] }
        usleep(300_000)
        return news.map { Self.tasks()![$0] } == counts
      }
      let counts = news.map { Self.tasks()![$0] }
      usleep(300_000)
      precondition(news.map { Self.tasks()![$0] } == counts, "it runs with nothing to do")
      sleeper.join()
    }
  }

  /// The number of the calling thread, as in ``tasks()``; 0 without /proc.
  private static func ownTask() -> Int {
    var path = [CChar](repeating: 0, count: 64)
    let length = readlink("/proc/thread-self", &path, path.count)
    let text = String(
      decoding: path.prefix(max(0, length)).map(UInt8.init(bitPattern:)), as: UTF8.self)
    return text.split(separator: "/").last.flatMap { Int($0) } ?? 0
  }

  /// How often the system switched to each thread of this process, by thread number; `nil` without
  /// /proc.
  private static func tasks() -> [Int: Int]? {
    guard let folder = opendir("/proc/self/task") else { return nil }
    defer { closedir(folder) }
    var counts: [Int: Int] = [:]
    while let item = readdir(folder) {
      let name = withUnsafeBytes(of: item.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard let number = Int(name), let file = fopen("/proc/self/task/\(name)/status", "r") else {
        continue
      }
      defer { fclose(file) }
      var line = [CChar](repeating: 0, count: 256)
      while fgets(&line, Int32(line.count), file) != nil {
        let bytes = line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.contains("ctxt_switches") else { continue }
        counts[number, default: 0] += Int(text.filter(\.isNumber)) ?? 0
      }
    }
    return counts
  }
}
