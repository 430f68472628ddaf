// SPDX-License-Identifier: Apache-2.0
import Foundation
import LarderObjects
import LarderTestSupport
import Testing

/// Bytes that the kernel really takes back: the tests make it do so, page by page and under
/// pressure.
@Suite("Purgeable data")
struct PurgeableDataTests {
  static let page = Int(sysconf(Int32(_SC_PAGESIZE)))

  /// Bytes that differ in every page and are 0 nowhere.
  private func sample(_ count: Int, seed: UInt64 = 1) -> Data {
    var random = SplitMix64(seed: seed)
    return Data((0..<count).map { _ in UInt8(1 + random.below(255)) })
  }

  /// The address of the bytes. Only for making the kernel take them.
  private func address(_ data: PurgeableData) -> UnsafeMutableRawPointer {
    data.withUnsafeBytes { UnsafeMutableRawPointer(mutating: $0.baseAddress!) }!
  }

  @Test("Bytes are there while nobody takes them", arguments: [0, 1, 4_095, 4_096, 100_000])
  func bytesStayWhileNobodyTakesThem(count: Int) throws {
    let bytes = sample(count)
    let data = try #require(PurgeableData(bytes))
    #expect(data.count == count && data.data == bytes)
    for _ in 0..<3 {
      data.endContentAccess()
      #expect(!data.isContentDiscarded())
      #expect(data.data == bytes)
      #expect(data.beginContentAccess())
      #expect(data.data == bytes)
    }
  }

  @Test("Bytes that are lent stay, whoever ends an access")
  func lentBytesStay() throws {
    let bytes = sample(10_000)
    let data = try #require(PurgeableData(bytes))
    data.withUnsafeBytes { lent in
      data.endContentAccess()
      #if !DEBUG
        data.endContentAccess()  // once too often
      #endif
      data.discardContentIfPossible()
      #expect(!data.isContentDiscarded() && Data(lent) == bytes)
    }
    data.discardContentIfPossible()
    #expect(data.isContentDiscarded() && data.data == nil)
  }

  @Test("Bytes are zero before they are initialized; the initializer's error is rethrown")
  func initializing() throws {
    struct Oops: Error {}
    let data = PurgeableData(count: 10_000) { bytes in
      #expect(bytes.count == 10_000 && bytes.allSatisfy { $0 == 0 })
      bytes[9_999] = 7
    }
    #expect(data?.data?.last == 7)
    #expect(throws: Oops.self) { try PurgeableData(count: 10) { _ in throw Oops() } }
    #expect(PurgeableData(count: .max) { _ in } == nil)
  }

  @Test("Discarding needs a count of 0, and gives the memory back")
  func discardingAtACountOfZero() throws {
    let data = try #require(PurgeableData(sample(10_000)))
    data.discardContentIfPossible()
    #expect(!data.isContentDiscarded())
    data.endContentAccess()
    data.withUnsafeBytes { _ in data.discardContentIfPossible() }
    #expect(!data.isContentDiscarded())
    data.discardContentIfPossible()
    #expect(data.isContentDiscarded() && data.data == nil && !data.beginContentAccess())
    #expect(data.count == 10_000)
  }

  #if os(Linux)
    @Test("The loss of any single page is detected, on use and when asked", arguments: 0..<8)
    func singlePages(lost: Int) throws {
      for asked in [false, true] {
        let bytes = sample(8 * Self.page)
        let data = try #require(PurgeableData(bytes))
        let pages = address(data)
        data.endContentAccess()
        #expect(madvise(pages + lost * Self.page, Self.page, MADV_DONTNEED) == 0)
        if asked { #expect(data.isContentDiscarded()) }
        #expect(!data.beginContentAccess())
        #expect(data.isContentDiscarded() && data.data == nil)
      }
    }

    @Test("A page with a single byte that is not zero is missed; a page of zeros is not")
    func sparsePages() throws {
      var random = SplitMix64(seed: 5)
      for _ in 0..<50 {
        let place = random.below(Self.page)
        let made = PurgeableData(count: 2 * Self.page) { $0[Self.page + place] = 1 }
        let data = try #require(made)
        let pages = address(data)
        data.endContentAccess()
        #expect(madvise(pages, Self.page, MADV_DONTNEED) == 0)
        #expect(!data.isContentDiscarded())
        #expect(data.data?.lastIndex(of: 1) == Self.page + place)
        #expect(madvise(pages + Self.page, Self.page, MADV_DONTNEED) == 0)
        #expect(data.isContentDiscarded())
      }
    }

    /// Asks the kernel to reclaim the pages now, as it would under pressure. It drops pages that
    /// are offered and clean, and keeps others.
    private func reclaim(_ pages: UnsafeMutableRawPointer, _ count: Int) -> Bool {
      let pageOut: Int32 = 21  // MADV_PAGEOUT, Linux 5.4
      return madvise(pages, count, pageOut) == 0
    }

    @Test("The kernel takes what is offered, and nothing while it is in use")
    func takenByTheKernel() throws {
      let count = 64 * Self.page
      let bytes = sample(count)
      let data = try #require(PurgeableData(bytes))
      let pages = address(data)
      guard reclaim(pages, count) else { return }  // a kernel before 5.4
      #expect(data.data == bytes)
      data.endContentAccess()
      #expect(data.beginContentAccess())
      // In use again, although nobody has written to the bytes since they were offered.
      #expect(reclaim(pages, count))
      #expect(data.data == bytes)
      data.endContentAccess()
      #expect(reclaim(pages, count))
      #expect(data.isContentDiscarded())
      #expect(data.data == nil)
    }

    @Test("A cache evicts data that the kernel took, and tells its delegate")
    func takenInACache() throws {
      let cache = ObjectCache<NSString, PurgeableData>()
      let witness = Witness()
      cache.delegate = witness
      // More pages than each processor keeps in a batch of its own, where the kernel takes none.
      let count = 64 * Self.page
      let data = try #require(PurgeableData(sample(count)))
      let pages = address(data)
      cache.setObject(data, forKey: "page", cost: data.count)
      data.endContentAccess()
      #expect(cache.object(forKey: "page") === data)
      guard reclaim(pages, count) else { return }
      #expect(cache.object(forKey: "page") == nil)
      #expect(witness.evicted.count == 1 && witness.evicted.first === data)
    }

    private func lockedBytes() throws -> Int {
      let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
      let line = status.split(separator: "\n").first { $0.hasPrefix("VmLck:") }
      return Int(line?.split(separator: " ").dropLast().last ?? "") ?? 0
    }

    @Test("Locked memory is not taken")
    func lockedMemoryStays() throws {
      let bytes = sample(4 * Self.page)
      let data = try #require(PurgeableData(bytes))
      let pages = address(data)
      // This is not allowed everywhere, and sanitizers make it do nothing.
      guard mlock(pages, 4 * Self.page) == 0, try lockedBytes() > 0 else { return }
      data.endContentAccess()
      _ = reclaim(pages, 4 * Self.page)
      #expect(data.data == bytes)
    }

    // Not under ThreadSanitizer: its own memory counts towards the limit of the control group.
    @Test(
      "Under memory pressure the data is lost and the process lives", .enabled(if: Cgroup.isThere))
    func pressure() async {
      await #expect(processExitsWith: .success) {
        let group = try #require(Cgroup(limit: 64 << 20))
        defer { group.leave() }
        let megabyte = 1 << 20
        let made = (0..<40).map { number in
          PurgeableData(count: megabyte) { $0.initializeMemory(as: UInt8.self, repeating: 7) }!
        }
        for data in made { data.endContentAccess() }
        precondition(made.allSatisfy { !$0.isContentDiscarded() })
        // 40 and 48 do not fit in 64, so without purgeable memory this ends the process.
        let hoard = UnsafeMutableRawPointer.allocate(byteCount: 48 * megabyte, alignment: 4_096)
        hoard.initializeMemory(as: UInt8.self, repeating: 1, count: 48 * megabyte)
        let lost = made.count { $0.isContentDiscarded() }
        precondition(lost >= 20, "\(lost) of 40 were taken")
        for data in made where !data.isContentDiscarded() {
          precondition(data.withUnsafeBytes { $0.allSatisfy { $0 == 7 } } ?? true)
        }
        hoard.deallocate()
      }
    }
  #endif

  @Test("A negative count traps")
  func negativeCount() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = PurgeableData(count: -1) { _ in }
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("count must not be negative"))
  }

  @Test("Threads may begin, end, read and discard at the same time")
  func concurrentUse() {
    for round in 0..<20 {
      let bytes = sample(5 * Self.page, seed: UInt64(round))
      guard let data = PurgeableData(bytes) else { continue }
      data.endContentAccess()
      onThreads(4) { index in
        for step in 0..<50 {
          if let copy = data.data { #expect(copy == bytes) }
          if index == 0 && step == 40 { data.discardContentIfPossible() }
          _ = data.isContentDiscarded()
        }
      }
    }
  }
}
