// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// What the clients saw.
struct LoadReport {
  /// In order.
  var latencies: [Duration] = []
  var time = Duration.zero
  /// Answers with a version older than one that had been answered before the request was sent.
  var outdated = 0

  var perSecond: Int { Int(Double(latencies.count) / (time / .seconds(1))) }

  func latency(_ share: Double) -> String {
    let latency = latencies[min(latencies.count - 1, Int(Double(latencies.count) * share))]
    let hundredths = Int(latency / .milliseconds(1) * 100)
    return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100) ms"
  }
}

/// Asks for pages over some connections at once, each of which sends its next request when it has
/// the answer to the last. A page is asked for in proportion to one over its number, and one
/// request in 200 is a change.
func generateLoad(port: UInt16, connections: Int, requests: Int, pages: Int) -> LoadReport {
  struct Request {
    let page: Int
    let sent: ContinuousClock.Instant
    /// The version that has been answered already.
    let known: Int
  }
  var report = LoadReport()
  var versions: [Int: Int] = [:]
  var waiting: [Int32: Request] = [:]
  var seed: UInt64 = 42
  func random() -> Double {
    seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Double(seed >> 11) / Double(UInt64(1) << 53)
  }
  func send(on socket: Int32) {
    let page = Int(exp(random() * log(Double(pages + 1))))
    let method = random() < 0.005 ? "POST" : "GET"
    waiting[socket] = Request(page: page, sent: .now, known: versions[page, default: 0])
    writeAll("\(method) /pages/\(page) HTTP/1.1\r\nHost: localhost\r\n\r\n", to: socket)
  }

  let sockets = (0..<connections).map { _ in connectToLoopback(port) }
  let start = ContinuousClock.now
  for socket in sockets { send(on: socket) }
  var sent = connections
  while !waiting.isEmpty {
    for socket in waitForInput(waiting.keys) {
      // An answer is small: it comes in one piece.
      var answer: [UInt8] = []
      let request = waiting.removeValue(forKey: socket)!
      if !readSome(socket, into: &answer) { stop("read") }
      report.latencies.append(.now - request.sent)
      let words = String(decoding: answer, as: UTF8.self).split { $0 == " " || $0.isNewline }
      guard words.count > 3, words[1] == "200", let version = words.last.flatMap({ Int($0) }) else {
        stop(String(decoding: answer, as: UTF8.self))
      }
      if version < request.known { report.outdated += 1 }
      versions[request.page] = max(version, versions[request.page, default: 0])
      if sent < requests {
        sent += 1
        send(on: socket)
      }
    }
  }
  report.time = .now - start
  report.latencies.sort()
  for socket in sockets { close(socket) }
  return report
}
