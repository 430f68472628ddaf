// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Loads that wait for their turn while another load comes to wait for them.
@Suite("Needed loads under a limit", .timeLimit(.minutes(20)))
struct NeededLoadTests {
  /// Rows that load one at a time, and pages that need a row each. Nothing loads until the gate
  /// opens but what is needed: rows other than 0.
  final class Subject: Sendable {
    let gate = Switch()
    let rows: LoadingCache<Int, Int>
    let pages: LoadingCache<Int, Int>

    init(together: Bool = false) {
      let load = { @Sendable [gate] (key: Int) async throws -> Int in
        while key == 0 && !gate.isOn { await Task.yield() }
        return key
      }
      let loadAll = { @Sendable (keys: [Int]) async throws -> [Int: Int] in
        var values: [Int: Int] = [:]
        for key in keys { values[key] = try await load(key) }
        return values
      }
      let rows = LoadingCache<Int, Int>(
        loading: .init(loadLimit: 1), loadAll: together ? loadAll : nil, load: load)
      self.rows = rows
      pages = LoadingCache { key in try await rows[key] }
    }

    /// Asks for row 0, which takes the turn, and for others, which wait for theirs.
    func fill(_ batches: [[Int]]) async -> [Task<Int, Never>] {
      var tasks: [Task<Int, Never>] = []
      for keys in [[0]] + batches {
        let before = rows.cache.flightCount
        tasks.append(
          Task { await rows.values(forKeys: keys).values.filter { (try? $0.get()) != nil }.count })
        while rows.cache.flightCount < before + keys.count { await Task.yield() }
      }
      // Their tasks get as far as the queue.
      for _ in 0..<1_000 { await Task.yield() }
      return tasks
    }
  }

  @Test("Each runs at once, wherever it waits, and the queue goes on without it")
  func wherever() async throws {
    let subject = Subject()
    let tasks = await subject.fill((1...40).map { [$0] })
    // The first, the last, neighbors, and one that is needed twice.
    for key in [1, 40, 20, 21, 19, 2, 39, 20] { #expect(try await subject.pages[key] == key) }
    #expect(subject.rows.statistics.loads == 7 && !subject.gate.isOn)
    subject.gate.turnOn()
    for task in tasks { #expect(await task.value == 1) }
    #expect(subject.rows.statistics.loads == 41)
    #expect(try await subject.rows[100] == 100)
    while subject.rows.cache.countedFlights > 0 { await Task.yield() }
    subject.rows.cache.checkInvariants()
  }

  @Test("Those that wait together run together when one of them is needed")
  func together() async throws {
    let subject = Subject(together: true)
    let tasks = await subject.fill([[1, 2, 3], [4, 5], [6, 7, 8]])
    #expect(try await subject.pages[5] == 5)
    while subject.rows.statistics.loads < 2 { await Task.yield() }
    #expect(try await subject.pages[6] == 6)
    #expect(try await subject.pages[8] == 8)
    while subject.rows.statistics.loads < 5 { await Task.yield() }
    for _ in 0..<100 { await Task.yield() }
    #expect(subject.rows.statistics.loads == 5 && !subject.gate.isOn)
    subject.gate.turnOn()
    #expect(await tasks[1].value == 3)
    #expect(subject.rows.statistics.loads == 9)
  }

  #if DEBUG
    @Test("Nobody looks at the others that wait")
    func looks() async throws {
      let subject = Subject()
      let tasks = await subject.fill([Array(1...1_000)])
      let looks = Counter()
      let seen = { @Sendable () -> Void in looks.next() }
      let pages = LoadPoints.$seen.withValue(seen) {
        (901...1_000).map { key in Task { try await subject.pages[key] } }
      }
      for (number, page) in pages.enumerated() { #expect(try await page.value == 901 + number) }
      // A look or two at each page and its row would be fair.
      #expect(looks.value <= 200 && !subject.gate.isOn)
      subject.gate.turnOn()
      #expect(await tasks[1].value == 1_000)
    }
  #endif
}
