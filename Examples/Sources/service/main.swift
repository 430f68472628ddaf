// SPDX-License-Identifier: Apache-2.0
// A service that reads its pages from a slow backend through Larder, and what that is worth.
//
//     swift run -c release --package-path Examples service           with and without, under load
//     swift run -c release --package-path Examples service 8080      serves until it is killed
//     curl localhost:8080/pages/7        curl -X POST localhost:8080/pages/7
import Larder

/// Answers `GET /pages/<number>` by `read`, and `POST /pages/<number>`, a change, by `change`.
func handler(
  read: @escaping @Sendable (Int) async throws -> Page, change: @escaping @Sendable (Int) -> Page
) -> Server.Handler {
  { method, path in
    guard path.hasPrefix("/pages/"), let number = Int(path.dropFirst(7)) else {
      return Response(status: "404 Not Found", body: "")
    }
    do {
      switch method {
      case "GET": return Response(status: "200 OK", body: try await read(number).text)
      case "POST": return Response(status: "200 OK", body: change(number).text)
      default: return Response(status: "405 Method Not Allowed", body: "")
      }
    } catch { return Response(status: "502 Bad Gateway", body: "\(error)") }
  }
}

/// The whole difference: however many ask for a page that is not there, the backend is read once.
func cached(_ backend: Backend) -> Server.Handler {
  let pages = LoadingCache<Int, Page>(countLimit: 1_000) { number in
    try await backend.page(number)
  }
  return handler(
    read: { number in try await pages[number] },
    change: { number in
      let page = backend.change(number)
      // After the change, not before: a read of the backend that is under way may return the old
      // page. Who asks from now on does not get it, and it is not stored.
      pages.removeValue(forKey: number)
      return page
    })
}

func direct(_ backend: Backend) -> Server.Handler {
  handler(read: { try await backend.page($0) }, change: { backend.change($0) })
}

ignoreBrokenPipes()
if let port = CommandLine.arguments.dropFirst().first.flatMap(UInt16.init) {
  Server(port: port, handler: cached(Backend())).run()
}

func column(_ text: String, _ width: Int) -> String {
  String(repeating: " ", count: max(0, width - text.count)) + text
}

print("                  requests/s   median     99 %   99.9 %   backend reads")
var outdated = 0
for (name, make) in [("without Larder", direct), ("with Larder   ", cached)] {
  let backend = Backend()
  let server = Server(port: 0, handler: make(backend))
  server.start()
  let report = generateLoad(port: server.port, connections: 64, requests: 20_000, pages: 10_000)
  outdated += report.outdated
  print(
    name, column("\(report.perSecond)", 13), column(report.latency(0.5), 8),
    column(report.latency(0.99), 8), column(report.latency(0.999), 8),
    column("\(backend.reads)", 15))
}
print("\(outdated) answers older than a change that had been answered before")
