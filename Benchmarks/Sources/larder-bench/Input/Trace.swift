// SPDX-License-Identifier: Apache-2.0
import CZstd
import Glibc

/// A recorded workload: the keys, in the order in which they were requested.
///
/// `NAME.u64.zst` holds one little-endian 64-bit key for each request. `NAME.rec12.zst` holds the
/// same followed by a 32-bit size in bytes.
struct Trace {
  /// The file's name without its ending.
  let name: String
  let path: String
  let keys: [UInt64]
  /// As many as there are keys, or none.
  let sizes: [UInt32]
  let uniqueKeys: Int
  /// The sum of the sizes of all keys, each at its first appearance; nil without sizes.
  let footprint: Int?

  init(path: String) throws {
    let ending = path.hasSuffix(".u64.zst") ? ".u64.zst" : ".rec12.zst"
    guard path.hasSuffix(ending) else {
      throw Failure("\(path): the name of a trace must end in .u64.zst or .rec12.zst")
    }
    let isSized = ending == ".rec12.zst"
    let stride = isSized ? 12 : 8
    let bytes = try decompressed(path)
    guard !bytes.isEmpty else { throw Failure("\(path): the trace is empty") }
    guard bytes.count % stride == 0 else {
      throw Failure("\(path): truncated: the file ends within a request")
    }
    let count = bytes.count / stride
    keys = bytes.withUnsafeBytes { raw in
      (0..<count).map {
        UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: $0 * stride, as: UInt64.self))
      }
    }
    sizes = bytes.withUnsafeBytes { raw in
      (0..<(isSized ? count : 0)).map {
        UInt32(littleEndian: raw.loadUnaligned(fromByteOffset: $0 * stride + 8, as: UInt32.self))
      }
    }
    var seen = Set<UInt64>(minimumCapacity: count / 4)
    var sum = 0
    for (index, key) in keys.enumerated() where seen.insert(key).inserted && isSized {
      sum += Int(sizes[index])
    }
    uniqueKeys = seen.count
    footprint = isSized ? sum : nil
    self.path = path
    name = String((path.split(separator: "/").last ?? "").dropLast(ending.count))
  }
}

/// The most bytes that a trace may have: 64 million requests without sizes. A small file of
/// compressed zeros would otherwise fill the memory.
private let bytesMost = 1 << 29

/// The content of the zstd file at `path`, which may consist of several frames.
private func decompressed(_ path: String) throws -> [UInt8] {
  var about = stat()
  guard stat(path, &about) != 0 || about.st_mode & S_IFMT == S_IFREG else {
    throw Failure("\(path): this is not a regular file")
  }
  guard let file = fopen(path, "re") else {
    throw Failure("\(path): the file cannot be read: \(String(cString: strerror(errno)))")
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
      // After a full chunk zstd may hold output although it has taken all input.
      while from.pos < from.size || isFull {
        try chunk.withUnsafeMutableBytes { target in
          var to = ZSTD_outBuffer(dst: target.baseAddress, size: target.count, pos: 0)
          wanted = ZSTD_decompressStream(stream, &to, &from)
          guard ZSTD_isError(wanted) == 0 else {
            throw Failure("\(path): \(String(cString: ZSTD_getErrorName(wanted)))")
          }
          guard output.count + to.pos <= bytesMost else {
            throw Failure("\(path): the trace is larger than \(bytesMost >> 20) MiB")
          }
          output.append(contentsOf: target[..<to.pos])
          isFull = to.pos == to.size && wanted != 0
        }
      }
    }
  }
  guard ferror(file) == 0 else {
    throw Failure("\(path): the file cannot be read: \(String(cString: strerror(errno)))")
  }
  guard wanted == 0 else { throw Failure("\(path): truncated: the zstd stream has no end") }
  return output
}
