// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A mistake of the user: one line on stderr and exit status 2.
struct Failure: Error {
  let message: String
  init(_ message: String) { self.message = message }
}

/// A problem while measuring: one line on stderr and exit status 1.
struct Trouble: Error {
  let message: String
  init(_ message: String) { self.message = message }
}

/// Writes `text` to stderr as it is.
func writeToStandardError(_ text: String) {
  var text = text
  let written = text.withUTF8 { write(STDERR_FILENO, $0.baseAddress, $0.count) }
  if written < 0 && errno == EPIPE { Cleanup.shared.end(by: SIGPIPE) }
}

/// Prints lines. `print` would not report that nobody receives them.
func printLines(_ lines: String...) throws {
  var text = Array((lines.joined(separator: "\n") + "\n").utf8)[...]
  while !text.isEmpty {
    let written = text.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    if written < 0 && errno == EPIPE { Cleanup.shared.end(by: SIGPIPE) }
    guard written >= 0 || errno == EINTR else {
      throw Trouble("stdout cannot be written: \(String(cString: strerror(errno)))")
    }
    text = text.dropFirst(max(0, written))
  }
}

/// Writes a line for the user to stderr.
func note(_ text: String) { writeToStandardError("larder-bench: \(text)\n") }
