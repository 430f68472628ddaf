// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The table: medians, the ratios of processor times, and the bars for these.
struct Report {
  private(set) var missed = 0

  init() {
    print(
      Self.name("ns per operation"),
      ["NSCache cpu", "wall", "Object cpu", "wall"].map { Self.column($0, 12) }.joined(),
      Self.column("ratio", 7), "  bar")
  }

  mutating func add(_ name: String, _ theirs: [Sample], _ ours: [Sample], bar: Double? = nil) {
    let (theirs, ours) = (Sample.median(theirs), Sample.median(ours))
    let ratio = ours.cpu / theirs.cpu
    if let bar, ratio > bar { missed += 1 }
    let numbers = [theirs.cpu, theirs.wall, ours.cpu, ours.wall]
    let held = bar.map { (ratio <= $0 ? "  <= " : "  >  ") + String(format: "%.2f", $0) }
    print(
      Self.name(name), numbers.map { Self.column(String(format: "%.1f", $0), 12) }.joined(),
      Self.column(String(format: "%.3f", ratio), 7), held ?? "")
  }

  private static func name(_ text: String) -> String {
    text.padding(toLength: 42, withPad: " ", startingAt: 0)
  }

  private static func column(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }
}
