// SPDX-License-Identifier: Apache-2.0

/// `larder-bench memory`: what entries add to a process.
struct Memory: Command {
  static let name = "memory"
  static let summary = "bytes per entry, resident and by the allocator's own count"
  static let help = """
    Usage: larder-bench memory [options]

    Fills each implementation in a fresh process and prints what it added, per entry: tables, links,
    keys, values and what a growing table left behind. "resident" is anonymous memory that the
    process holds, "allocated" the allocator's own count; that is more where pages were not touched
    yet.

      --entries N[,...]      entries (default 10000,100000,1000000,10000000)
    \(Filling.help)
    """

  private let filling: Filling

  init(_ words: some Sequence<String>) throws {
    filling = try Filling(
      words, Self.name, entries: [10_000, 100_000, 1_000_000, 10_000_000], options: [])
  }

  func run() throws -> Bool {
    var results = try Results(path: filling.json)
    let subjects = filling.subjects(&results)
    let progress = Progress()
    defer { progress.finish() }
    for (implementation, _) in subjects {
      for entries in filling.entries { progress.expect(entries, of: implementation.name) }
    }
    var table = Table(
      ["implementation", "entries", "resident B/entry", "allocated B/entry"])
    for entries in filling.entries {
      for subject in subjects {
        let row = try progress.units(entries, of: subject.0.name) {
          try Self.measure(subject, entries, filling)
        }
        results.rows.append(row)
        table.add([
          subject.0.title, String(entries), fixed(row.bytesPerEntry ?? .nan, 1),
          fixed(row.allocatedBytesPerEntry ?? .nan, 1),
        ])
      }
    }
    progress.finish()
    try results.publish(table.markdown, filling.remark)
    return true
  }

  /// Fills `entries` entries in a fresh process.
  static func measure(
    _ subject: (Implementation, Implementation.Variant), _ entries: Int, _ filling: Filling
  ) throws -> Row {
    let child = try filling.child(subject, capacity: entries)
    let reply = try child.perform("memory \(entries)")
    var row = filling.row(name, subject.0, entries)
    row.bytesPerEntry = reply.residentBytes.map { $0 / Double(entries) }
    row.allocatedBytesPerEntry = reply.allocatedBytes.map { $0 / Double(entries) }
    row.details = [("allocatedBytesPerEntry", JSON(row.allocatedBytesPerEntry))]
    return row
  }
}
