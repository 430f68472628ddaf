// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A JSON value whose objects keep the order of their members.
enum JSON: Sendable {
  case null
  case text(String)
  case number(Double)
  case list([JSON])
  case object([(String, JSON)])

  init(_ text: String?) { self = text.map(JSON.text) ?? .null }
  init(_ number: Double?) { self = number.flatMap { $0.isFinite ? .number($0) : nil } ?? .null }
  init(_ number: Int?) { self = number.map { .number(Double($0)) } ?? .null }

  var encoded: String {
    switch self {
    case .null: "null"
    case .text(let text): Self.quoted(text)
    case .number(let number):
      number.rounded() == number && abs(number) < 1e15
        ? String(Int(number)) : String(Double(String(format: "%.6g", number)) ?? number)
    case .list(let items): "[" + items.map(\.encoded).joined(separator: ", ") + "]"
    case .object(let members):
      "{" + members.map { "\(Self.quoted($0)): \($1.encoded)" }.joined(separator: ", ") + "}"
    }
  }

  private static func quoted(_ text: String) -> String {
    let data = try? JSONEncoder().encode(text)
    return String(decoding: data ?? Data("\"\"".utf8), as: UTF8.self)
      .replacingOccurrences(of: "\\/", with: "/")
  }
}
