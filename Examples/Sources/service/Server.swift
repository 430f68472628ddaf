// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

struct Response: Sendable {
  let status: String
  let body: String

  var text: String {
    "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
  }
}

/// Speaks as much HTTP as the example needs: requests without a body, one after another on each
/// connection. One thread waits for requests; each is answered by a task.
final class Server: Sendable {
  typealias Handler = @Sendable (_ method: String, _ path: String) async -> Response

  let port: UInt16
  private let listener: Int32
  private let handler: Handler
  /// Tasks write here the number of each connection that they have answered.
  private let (answered, answers): (Int32, Int32)

  init(port: UInt16, handler: @escaping Handler) {
    (listener, self.port) = listenOnLoopback(port)
    self.handler = handler
    var ends: [Int32] = [0, 0]
    if pipe(&ends) != 0 { stop("pipe") }
    (answered, answers) = (ends[0], ends[1])
  }

  /// Runs on a thread of its own until the process ends.
  func start() {
    #if canImport(Darwin)
      var thread: pthread_t?
    #else
      var thread = pthread_t()
    #endif
    let server = Unmanaged.passRetained(self).toOpaque()
    let error = pthread_create(
      &thread, nil,
      { argument in
        let argument: UnsafeMutableRawPointer? = argument
        Unmanaged<Server>.fromOpaque(argument!).takeRetainedValue().run()
      }, server)
    if error != 0 { stop("pthread_create") }
  }

  func run() -> Never {
    // What has come of each connection's next request. A connection that is being answered is its
    // task's, and not in here.
    var requests: [Int32: [UInt8]] = [:]
    while true {
      for socket in waitForInput([listener, answered] + requests.keys) {
        if socket == listener {
          let connection = accept(listener, nil, nil)
          if connection >= 0 { requests[connection] = [] }
        } else if socket == answered {
          var connection: Int32 = 0
          if read(answered, &connection, 4) == 4 { requests[connection] = [] }
        } else if !readSome(socket, into: &requests[socket]!) || requests[socket]!.count > 8_192 {
          requests[socket] = nil
          close(socket)
        } else if requests[socket]!.suffix(4) == [13, 10, 13, 10] {
          answer(requests.removeValue(forKey: socket)!, on: socket)
        }
      }
    }
  }

  private func answer(_ request: [UInt8], on connection: Int32) {
    let line = String(decoding: request.prefix { $0 != 13 }, as: UTF8.self).split(separator: " ")
    Task {
      let isRequest = line.count == 3
      let response =
        isRequest
        ? await handler(String(line[0]), String(line[1]))
        : Response(status: "400 Bad Request", body: "")
      writeAll(response.text, to: connection)
      var connection = connection
      write(answers, &connection, 4)
    }
  }
}
