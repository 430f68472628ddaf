// SPDX-License-Identifier: Apache-2.0
// What the example needs of the system's sockets.

#if canImport(Glibc)
  import Glibc
  private let stream = Int32(SOCK_STREAM.rawValue)
#elseif canImport(Musl)
  import Musl
  private let stream = SOCK_STREAM
#else
  import Darwin
  private let stream = SOCK_STREAM
#endif

/// A connection that the other side has closed makes a write fail, not end the process.
func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }

func stop(_ what: String) -> Never {
  perror(what)
  exit(1)
}

private func withLoopback<Result>(
  _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
) -> Result {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = port.bigEndian
  address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
  let size = MemoryLayout<sockaddr_in>.size
  return withUnsafeBytes(of: &address) {
    body($0.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t(size))
  }
}

/// A socket that listens on the loopback interface; port 0 for any. Returns the port, too.
func listenOnLoopback(_ port: UInt16) -> (socket: Int32, port: UInt16) {
  let listener = socket(AF_INET, stream, 0)
  var yes: Int32 = 1
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
  if withLoopback(port, { bind(listener, $0, $1) }) != 0 { stop("bind") }
  if listen(listener, 1_024) != 0 { stop("listen") }
  var address = sockaddr_in()
  var size = socklen_t(MemoryLayout<sockaddr_in>.size)
  withUnsafeMutableBytes(of: &address) {
    _ = getsockname(listener, $0.baseAddress!.assumingMemoryBound(to: sockaddr.self), &size)
  }
  return (listener, UInt16(bigEndian: address.sin_port))
}

func connectToLoopback(_ port: UInt16) -> Int32 {
  let connection = socket(AF_INET, stream, 0)
  if withLoopback(port, { connect(connection, $0, $1) }) != 0 { stop("connect") }
  return connection
}

/// Waits until some of the sockets can be read, and returns those.
func waitForInput(_ sockets: some Sequence<Int32>) -> [Int32] {
  var polled = sockets.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
  while poll(&polled, nfds_t(polled.count), -1) < 0 && errno == EINTR {}
  return polled.filter { $0.revents != 0 }.map(\.fd)
}

/// Appends what there is to read. Returns false at the end of the input.
func readSome(_ socket: Int32, into text: inout [UInt8]) -> Bool {
  let more = [UInt8](unsafeUninitializedCapacity: 4_096) { buffer, count in
    count = max(0, read(socket, buffer.baseAddress, buffer.count))
  }
  text += more
  return !more.isEmpty
}

/// Returns false if the other side is gone.
@discardableResult
func writeAll(_ text: String, to socket: Int32) -> Bool {
  var text = text
  return text.withUTF8 { bytes in
    var done = 0
    while done < bytes.count {
      let written = write(socket, bytes.baseAddress! + done, bytes.count - done)
      if written <= 0 { return false }
      done += written
    }
    return true
  }
}
