// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The user's mistake: one line on stderr and exit status 2.
struct Failure: Error {
  let message: String
  init(_ message: String) { self.message = message }
}

/// Something that went wrong while measuring: one line on stderr and exit status 1.
struct Trouble: Error {
  let message: String
  init(_ message: String) { self.message = message }
}

/// Writes `text` to stderr as it is.
func writeToStandardError(_ text: String) {
  var text = text
  text.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
}

/// A line on stderr for the user to know.
func note(_ text: String) { writeToStandardError("larder-bench: \(text)\n") }
