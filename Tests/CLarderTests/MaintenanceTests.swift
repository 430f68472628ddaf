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

/// The background thread destroys what was removed without any call that asks for it, and then
/// sleeps. It belongs to the process, so each test runs in a process of its own. Such exit tests
/// capture their arguments by a list like `[shards = shards as Int]`.
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
      waitUntil("the other cache is visited alone") {
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

  @Test("With nothing to do, the background thread does not run")
  func sleepsWithNothingToDo() async {
    await #expect(processExitsWith: .success) {
      guard Self.tasks() != nil else { return print("skipped: there is no /proc/self/task") }
      // Without sources: the system may be short of memory just now, which wakes who listens.
      MemoryPressure.setRoot("/nowhere")
      let before = Self.tasks()!
      let tracker = LifetimeTracker()
      let cache = Cache<Int, Tracked>()
      // With the thread that listens for memory pressure, which must not run either.
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
