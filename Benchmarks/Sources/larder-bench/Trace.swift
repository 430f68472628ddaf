// SPDX-License-Identifier: Apache-2.0
import CZstd
import Glibc

/// The keys of a recorded workload, in the order in which they were requested.
///
/// `NAME.u64.zst` holds one little-endian 64-bit key per request, `NAME.rec12.zst` the same
/// followed by a 32-bit size in bytes, which a replay that counts entries does not need.
struct Trace {
  let name: String
  let keys: [UInt64]
  let uniqueKeys: Int

  init(path: String) throws {
    let bytesPerRequest: Int
    if path.hasSuffix(".u64.zst") {
      bytesPerRequest = 8
    } else if path.hasSuffix(".rec12.zst") {
      bytesPerRequest = 12
    } else {
      throw Failure("\(path): a trace's name ends in .u64.zst or .rec12.zst")
    }
    let bytes = try decompressed(path)
    guard !bytes.isEmpty else { throw Failure("\(path): the trace is empty") }
    guard bytes.count % bytesPerRequest == 0 else {
      throw Failure("\(path): truncated: it ends within a request")
    }
    keys = bytes.withUnsafeBytes { raw in
      stride(from: 0, to: raw.count, by: bytesPerRequest).map {
        UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: $0, as: UInt64.self))
      }
    }
    uniqueKeys = Set(keys).count
    let file = path.split(separator: "/").last.map(String.init) ?? path
    name = String(file.prefix { $0 != "." })
  }
}

/// The content of the zstd file at `path`, which may consist of several frames.
private func decompressed(_ path: String) throws -> [UInt8] {
  guard let file = fopen(path, "re") else {
    throw Failure("\(path): cannot be read: \(String(cString: strerror(errno)))")
  }
  defer { fclose(file) }
  guard let stream = ZSTD_createDStream() else { throw Failure("\(path): out of memory") }
  defer { ZSTD_freeDStream(stream) }

  var output: [UInt8] = []
  var input = [UInt8](repeating: 0, count: ZSTD_DStreamInSize())
  var chunk = [UInt8](repeating: 0, count: ZSTD_DStreamOutSize())
  var wanted = 0  // what zstd still expects: 0 exactly at the end of a frame
  while true {
    let read = fread(&input, 1, input.count, file)
    if read == 0 { break }
    try input.withUnsafeBytes { source in
      var from = ZSTD_inBuffer(src: source.baseAddress, size: read, pos: 0)
      var isFull = false
      // A full chunk may leave output inside zstd although all input is taken.
      while from.pos < from.size || isFull {
        try chunk.withUnsafeMutableBytes { target in
          var to = ZSTD_outBuffer(dst: target.baseAddress, size: target.count, pos: 0)
          wanted = ZSTD_decompressStream(stream, &to, &from)
          guard ZSTD_isError(wanted) == 0 else {
            throw Failure("\(path): \(String(cString: ZSTD_getErrorName(wanted)))")
          }
          output.append(contentsOf: target[..<to.pos])
          isFull = to.pos == to.size && wanted != 0
        }
      }
    }
  }
  guard ferror(file) == 0 else {
    throw Failure("\(path): cannot be read: \(String(cString: strerror(errno)))")
  }
  guard wanted == 0 else { throw Failure("\(path): truncated: the zstd stream has no end") }
  return output
}
