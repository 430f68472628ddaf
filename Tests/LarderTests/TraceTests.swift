// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The adaptive policy on real requests. They are the slice in Benchmarks/Traces and, if
/// LARDER_TRACES names a directory with traces and `best.csv` (columns trace, mode, size_fraction,
/// size, best_online_miss_ratio, …), the short ones of those.
@Suite("Real traces", .timeLimit(.minutes(20)))
struct TraceTests {
  static let directory = getenv("LARDER_TRACES").map { String(cString: $0) }
  static let slice =
    #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined()
    + "/Benchmarks/Traces/tw_c52.rec12.zst"

  /// Everything that a command prints.
  static func output(of command: String) -> [UInt8] {
    guard let pipe = popen(command, "r") else { return [] }
    defer { pclose(pipe) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = fread(&buffer, 1, buffer.count, pipe), count > 0 {
      bytes += buffer[..<count]
    }
    return bytes
  }

  static let hasZstd = !output(of: "command -v zstd").isEmpty

  /// The keys of a trace in records of `stride` bytes; empty if it cannot be read.
  static func keys(_ path: String, stride: Int) -> [UInt64] {
    let bytes = output(of: "zstd -dcq '\(path)'")
    return bytes.withUnsafeBytes { bytes in
      Swift.stride(from: 0, to: bytes.count / stride * stride, by: stride).map {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: $0, as: UInt64.self))
      }
    }
  }

  static func missRatio(
    _ keys: [UInt64], _ size: Int, _ policy: EvictionPolicy, shards: Int = 1
  ) -> Double {
    let cache = Cache<UInt64, UInt64>(
      countLimit: size, policy: policy, shards: shards, options: .repeatable())
    for key in keys where cache[key] == nil { cache[key] = key }
    cache.checkInvariants()
    return Double(cache.statistics.misses) / Double(keys.count)
  }

  @Test(
    "The adaptive policy misses no more than LRU and S3-FIFO",
    .enabled(if: hasZstd, "the command zstd is missing"),
    arguments: [200, 2_000])
  func missesNoMoreThanOthers(size: Int) {
    let keys = Self.keys(Self.slice, stride: 12).prefix(Stress.scaled(300_000, atLeast: 100_000))
    #expect(keys.count >= 100_000)
    let adaptive = Self.missRatio(Array(keys), size, .adaptive)
    #expect(adaptive < Self.missRatio(Array(keys), size, .lru))
    #expect(adaptive < Self.missRatio(Array(keys), size, .s3fifo) + 0.01)
    // Shards of fewer than 128 entries do miss more.
    let sharded = Self.missRatio(Array(keys), size, .adaptive, shards: max(1, size / 128))
    #expect(sharded < adaptive + 0.03)
  }

  @Test(
    "The adaptive policy misses little more than the best policy of each cell",
    .enabled(if: hasZstd, "the command zstd is missing"),
    .enabled(if: directory != nil, "LARDER_TRACES names no directory of traces"),
    arguments: [
      ("c2k_web12", "u64", 8), ("corda_vault", "u64", 8), ("lirs_loop", "u64", 8),
      ("lirs_multi3", "u64", 8), ("cp_sample", "rec12", 12),
    ])
  func nearTheBest(trace: String, form: String, stride: Int) throws {
    let directory = try #require(Self.directory)
    let keys = Self.keys("\(directory)/\(trace).\(form).zst", stride: stride)
    let table = String(decoding: Self.output(of: "cat '\(directory)/best.csv'"), as: UTF8.self)
    var cells = 0
    for line in table.split(whereSeparator: \.isNewline) {
      let columns = line.split(separator: ",")
      guard columns[0] == trace, columns[1] == "count" else { continue }
      let (size, best) = (try #require(Int(columns[3])), try #require(Double(columns[4])))
      guard size >= 100 else { continue }
      cells += 1
      let ratio = Self.missRatio(keys, size, .adaptive)
      #expect(ratio < best + 0.035, "\(size) entries: \(ratio), and \(best) at best")
    }
    #expect(cells > 1)
  }
}
