// SPDX-License-Identifier: Apache-2.0
import CBench
import Foundation

/// What a full cache adds to a process, for each of its entries. Everything counts: tables, links,
/// keys, values, locks, the allocator's rounding and what a growing table left behind.
struct Footprint {
  let residentBytesPerEntry: Double
  /// By jemalloc's own count; nil when the process does not run on jemalloc.
  let allocatedBytesPerEntry: Double?

  /// Fills one cache in a fresh child process, where nothing else has used the heap.
  ///
  /// `kind` is `integer` for UInt64 values in Larder, or an implementation's name for `Payload`
  /// objects in it.
  static func measured(inChildFor kind: String, entries: Int) throws -> Footprint {
    let child = Process()
    child.executableURL = URL(fileURLWithPath: CommandLine.executablePath)
    child.arguments = [memoryChildCommand, kind, String(entries)]
    let pipe = Pipe()
    child.standardOutput = pipe
    try child.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    child.waitUntilExit()
    let numbers = String(decoding: output, as: UTF8.self).split(whereSeparator: \.isWhitespace)
      .map { Double($0) }
    guard child.terminationStatus == 0, numbers.count == 2,
      let resident = numbers[0], let allocated = numbers[1]
    else { throw Failure("the child process that measures memory failed for \(kind)") }
    return Footprint(
      residentBytesPerEntry: resident / Double(entries),
      allocatedBytesPerEntry: allocated > 0 ? allocated / Double(entries) : nil)
  }
}

/// Not for users: the subcommand that `Footprint` runs in a child.
let memoryChildCommand = "memory-child"

func runMemoryChild(_ words: some Collection<String>) throws {
  let words = Array(words)
  guard words.count == 2, let entries = Int(words[1]), entries > 0 else {
    throw Failure("\(memoryChildCommand) is for larder-bench itself")
  }
  if words[0] == "integer" {
    printGrowth(of: LarderRival<UInt64, UInt64>.self, entries: entries)
  } else {
    try Implementation(named: words[0]).accept(GrowthVisitor(entries: entries))
  }
}

private struct GrowthVisitor: RivalVisitor {
  let entries: Int
  func visit<R: Rival>(_ type: R.Type) where R.Key == UInt64, R.Value == Payload {
    printGrowth(of: type, entries: entries)
  }
}

/// Prints the bytes that `entries` entries added: resident, and by jemalloc's count.
private func printGrowth<R: Rival>(of type: R.Type, entries: Int)
where R.Key == UInt64, R.Value: Measurable {
  // The first look at either counter allocates; it must not count.
  _ = (lb_anonymous_bytes(), lb_jemalloc_allocated_bytes())
  let resident = lb_anonymous_bytes()
  let allocated = lb_jemalloc_allocated_bytes()
  let rival = R(capacity: entries)
  churnLoop(rival, from: 0, count: entries)
  let residentGrowth = max(lb_anonymous_bytes(), resident) - resident
  let allocatedGrowth = lb_jemalloc_allocated_bytes() - allocated
  withExtendedLifetime(rival) { print(residentGrowth, allocatedGrowth) }
}

extension CommandLine {
  /// The running program's own file, also when it was found by PATH.
  static var executablePath: String {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? arguments[0]
  }
}
