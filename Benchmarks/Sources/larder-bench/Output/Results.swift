// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The results of a command, on their way to a JSON file.
///
/// The file is a list of objects. The first is the header: `machine`, `kernel`, `compiler`,
/// `jemalloc`, `date`, `loadAverage`, `command`, `skipped` (what was not measured, and why) and
/// `details`. The details hold, for every row in order, what a row has no place for: minima, the
/// spread, the lock that counted, points of curves. All other objects are rows.
struct Results {
  private let machine = Machine()
  private let path: String?
  var rows: [Row] = []
  private(set) var skipped: [String] = []

  /// - Parameter path: Where to write. A link is followed. Whether the file can be written is
  ///   checked now, not after an hour.
  init(path: String?) throws {
    let file = path.map(Self.target)
    self.path = file?.path
    guard let path, let file else { return }
    // The new file replaces the old one, which must not be a device or a directory.
    let kind = try? FileManager.default.attributesOfItem(atPath: file.path)[.type]
    let isRegular = (kind as? FileAttributeType).map { $0 == .typeRegular }
    guard isRegular != false, !path.hasSuffix("/") else {
      throw Failure("\(path) is not a regular file")
    }
    let draft = Self.draft(of: file.path)
    Cleanup.shared.add(draft)
    defer { Cleanup.shared.remove(draft) }
    guard FileManager.default.createFile(atPath: draft, contents: nil) else {
      throw Failure("\(path) cannot be written")
    }
  }

  /// The file that `path` names, or to which a link there leads, whether or not it exists yet.
  private static func target(of path: String) -> URL {
    var file = URL(fileURLWithPath: path)
    for _ in 0..<32 {  // as many links as the system follows, or fewer
      guard
        let next = try? FileManager.default.destinationOfSymbolicLink(atPath: file.path)
      else { break }
      file = URL(fileURLWithPath: next, relativeTo: file.deletingLastPathComponent()).absoluteURL
    }
    return file
  }

  private static func draft(of path: String) -> String { "\(path).\(getpid()).part" }

  /// Reports once on stderr, and in the header, what is not measured.
  mutating func skip(_ reason: String) {
    if skipped.contains(reason) { return }
    note(reason)
    skipped.append(reason)
  }

  /// Whether the implementation can do this. If not, it is skipped.
  mutating func accepts(_ implementation: Implementation, for workload: Workload) -> Bool {
    if implementation.workloads.contains(workload) { return true }
    skip("\(implementation.name) is skipped: it has no \(workload.rawValue)")
    return false
  }

  /// Whether its users can store a key that they did not look up before. If not, it is skipped.
  mutating func acceptsStores(by implementation: Implementation) -> Bool {
    if implementation.workloads.contains(.mixed) { return true }
    skip("\(implementation.name) is skipped: it has no stores apart from lookups")
    return false
  }

  /// Whether this number of threads can share the implementation. If not, it is skipped.
  mutating func accepts(_ implementation: Implementation, onThreads threads: Int) -> Bool {
    if threads == 1 || implementation.name != "larder-batch" { return true }
    skip("\(implementation.name) is skipped on \(threads) threads: it is measured on one")
    return false
  }

  /// Writes the file, then prints the table and the notes on it and on the machine.
  func publish(_ table: String, _ remarks: String...) throws {
    guard !rows.isEmpty else { throw Trouble("nothing was measured") }
    // The file comes first, so that trouble with stdout cannot cost it.
    try write()
    let remarks = (remarks + [machine.sentence]).map { "(\($0))" }
    try printLines(table, "", remarks.joined(separator: "\n"))
  }

  /// Replaces the file in one step, so that neither a reader nor an interruption ever sees half of
  /// it.
  private func write() throws {
    guard let path else { return }
    let lines = ([header] + rows.map(\.json)).map { "  " + $0.encoded }
    let text = "[\n" + lines.joined(separator: ",\n") + "\n]\n"
    let draft = Self.draft(of: path)
    Cleanup.shared.add(draft)
    defer { Cleanup.shared.remove(draft) }
    guard FileManager.default.createFile(atPath: draft, contents: Data(text.utf8)),
      rename(draft, path) == 0
    else { throw Trouble("\(path) cannot be written: \(String(cString: strerror(errno)))") }
  }

  /// Writes to stderr which rows were refused. Returns whether there are any.
  func complainAboutSpread(_ method: Method) -> Bool {
    var isRefused = false
    for row in rows {
      guard case .number(1)? = row.details.first(where: { $0.0 == "refused" })?.1,
        case .number(let spread)? = row.details.first(where: { $0.0 == "spread" })?.1
      else { continue }
      isRefused = true
      note(
        "refused: \(row.implementation), \(row.trace ?? row.workload), \(row.threads ?? 1) "
          + "thread(s): repetitions spread over \(fixed(100 * spread, 0)) % of their median, "
          + "allowed are \(fixed(100 * method.maximumSpread, 0)) %; try an idle machine, more "
          + "--samples, --max-spread or --accept-spread")
    }
    return isRefused
  }

  private var header: JSON {
    .object([
      ("machine", JSON("\(machine.processor), \(machine.cores) cores")),
      ("kernel", JSON(machine.kernel)), ("compiler", JSON(machine.compiler)),
      ("jemalloc", JSON(machine.jemalloc)), ("date", JSON(machine.date)),
      ("loadAverage", JSON(machine.loadAverage)),
      ("command", JSON(CommandLine.arguments.dropFirst().joined(separator: " "))),
      ("skipped", .list(skipped.map { JSON($0) })),
      ("details", .list(rows.map { .object($0.details) })),
    ])
  }
}
