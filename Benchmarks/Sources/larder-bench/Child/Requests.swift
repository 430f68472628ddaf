// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The requests of one workload, as keys of the type that the implementation is measured with.
///
/// All strings are made before the clock starts. They lie in memory in the order of their use, as
/// if each had just been parsed. No two requests share an instance, and none shares one with the
/// cache unless that request put it there.
struct Requests<Key: RequestKey>: @unchecked Sendable {
  // Unchecked: never written after creation, and never freed.
  let keys: UnsafeBufferPointer<Key>
  let costs: UnsafeBufferPointer<UInt32>
  /// The raw values of ``Action``, where requests do different things.
  let actions: UnsafeBufferPointer<UInt8>

  init(keyFile: String?, costFile: String?, actionFile: String? = nil) throws {
    keys = try Self.keys(keyFile)
    costs =
      try costFile.map { try mapped($0, as: UInt32.self) }
      ?? UnsafeBufferPointer(start: nil, count: 0)
    actions =
      try actionFile.map { try mapped($0, as: UInt8.self) }
      ?? UnsafeBufferPointer(start: nil, count: 0)
  }

  private static func keys(_ path: String?) throws -> UnsafeBufferPointer<Key> {
    guard let path else { return UnsafeBufferPointer(start: nil, count: 0) }
    let numbers = try mapped(path, as: UInt64.self)
    let keys = UnsafeMutableBufferPointer<Key>.allocate(capacity: numbers.count)
    _ = keys.initialize(fromContentsOf: numbers.lazy.map(Key.init(number:)))
    return UnsafeBufferPointer(keys)
  }
}

/// The numbers in the file at `path`, which stays mapped until the process ends.
func mapped<Number>(_ path: String, as type: Number.Type) throws -> UnsafeBufferPointer<Number> {
  let file = open(path, O_RDONLY | O_CLOEXEC)
  guard file >= 0 else { throw Failure("\(path): \(String(cString: strerror(errno)))") }
  defer { close(file) }
  let size = Int(lseek(file, 0, SEEK_END))
  let count = size / MemoryLayout<Number>.stride
  guard count > 0 else { return UnsafeBufferPointer(start: nil, count: 0) }
  guard let start = mmap(nil, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0),
    start != MAP_FAILED
  else { throw Failure("\(path): \(String(cString: strerror(errno)))") }
  return UnsafeBufferPointer(start: start.assumingMemoryBound(to: Number.self), count: count)
}
