// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport
import Testing

#if canImport(Glibc)
  import Glibc

  /// How the system provides the memory of large blocks.
  @Suite("Large blocks of memory")
  struct ExtentTests {
    /// The bytes of a block that the system has provided.
    private func resident(_ start: UnsafeMutableRawPointer, _ bytes: Int) -> Int {
      let page = sysconf(Int32(_SC_PAGESIZE))
      let first = UnsafeMutableRawPointer(bitPattern: UInt(bitPattern: start) & ~UInt(page - 1))!
      var pages = [UInt8](repeating: 0, count: (start + bytes - first + page - 1) / page)
      #expect(mincore(first, pages.count * page, &pages) == 0)
      return page * pages.count { $0 & 1 != 0 }
    }

    private static let bytes = 8 << 20
    private static let little = 256 << 10

    @Test("Who writes to a block first waits for a small page only")
    func piecemeal() throws {
      for make in [lrd_alloc_piecemeal, lrd_alloc_zeroed] {
        let memory = try #require(make(Self.bytes, 64))
        defer { lrd_free(memory, Self.bytes, 64) }
        (memory + Self.bytes / 2).storeBytes(of: 1, as: UInt8.self)
        #expect((1...Self.little).contains(resident(memory, Self.bytes)))
      }
    }

    @Test("So does who writes to a table or to a page that was not made in advance")
    func tablesAndPages() throws {
      let table = try #require(lrd_table_create(100_000, lrdt_two_references()))
      defer { lrd_table_destroy(table) }
      #expect(resident(UnsafeMutableRawPointer(table), 100_000 * 64) <= Self.little)
      let shape = lrd_shape(header: 64, stride: 48, alignment: 16)
      for isMadeInAdvance in [false, true] {
        let page = try #require(lrd_page_create(shape, 1, 64 << 20, 0, isMadeInAdvance))
        defer { lrd_page_free(shape, page) }
        let bytes = Int(page.pointee.bytes)
        #expect(bytes == 2 << 20)
        #expect((resident(page, bytes) > Self.little) == isMadeInAdvance)
      }
    }
  }
#endif
