// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A Markdown table whose columns also line up as plain text. The first column is text, and so are
/// those in `textColumns`. All others are aligned to the right.
struct Table {
  private let header: [String]
  private let textColumns: Set<String>
  private var rows: [[String]] = []

  init(_ header: [String], textColumns: Set<String> = []) {
    self.header = header
    self.textColumns = textColumns.union([header[0]])
  }

  mutating func add(_ row: [String]) { rows.append(row) }

  var markdown: String {
    let widths = header.indices.map { column in
      max(3, ([header] + rows).map { $0[column].count }.max()!)
    }
    let rule = header.indices.map { column in
      let dashes = String(repeating: "-", count: widths[column] - 1)
      return isText(column) ? dashes + "-" : dashes + ":"
    }
    return ([header, rule] + rows).map { line($0, widths) }.joined(separator: "\n")
  }

  private func isText(_ column: Int) -> Bool { textColumns.contains(header[column]) }

  private func line(_ cells: [String], _ widths: [Int]) -> String {
    let padded = cells.indices.map { column in
      let space = String(repeating: " ", count: widths[column] - cells[column].count)
      return isText(column) ? cells[column] + space : space + cells[column]
    }
    return "| " + padded.joined(separator: " | ") + " |"
  }
}

/// `value` with a fixed number of decimals, independent of the locale.
func fixed(_ value: Double, _ decimals: Int) -> String {
  String(format: "%.\(decimals)f", value)
}

/// A duration with about three significant digits and its unit.
func duration(_ nanoseconds: Double) -> String {
  switch nanoseconds {
  case ..<10_000: fixed(nanoseconds, 0) + " ns"
  case ..<1_000_000: fixed(nanoseconds / 1e3, 1) + " us"
  default: fixed(nanoseconds / 1e6, 2) + " ms"
  }
}
