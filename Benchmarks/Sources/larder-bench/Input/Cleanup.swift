// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

/// Files and processes that must not outlive the program, even when it is interrupted.
final class Cleanup: @unchecked Sendable {
  // Unchecked: `signals` is never touched after creation.
  static let shared = Cleanup()
  private let paths = Mutex<Set<String>>([])
  private let children = Mutex<Set<pid_t>>([])
  private var signals: [any DispatchSourceSignal] = []

  private init() {
    // A write tells of a closed pipe itself. Its signal is for one thread, and dispatch sources
    // never come to an end of those.
    signal(SIGPIPE, SIG_IGN)
    signals = [SIGINT, SIGTERM, SIGHUP].map { number in
      signal(number, SIG_IGN)  // the dispatch source handles it
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        Cleanup.shared.end(by: number)
      }
      source.resume()
      return source
    }
  }

  func add(_ path: String) { paths.withLock { _ = $0.insert(path) } }

  func remove(_ path: String) {
    Self.delete(path)
    paths.withLock { _ = $0.remove(path) }
  }

  func add(child: pid_t) { children.withLock { _ = $0.insert(child) } }
  func forget(child: pid_t) { children.withLock { _ = $0.remove(child) } }

  /// Ends the program as this signal would, and leaves nothing behind.
  func end(by number: Int32) -> Never {
    for child in children.withLock({ $0 }) { kill(child, SIGKILL) }
    for path in paths.withLock({ $0 }) { Self.delete(path) }
    _exit(128 + number)
  }

  /// Deletes a file, a directory with what is in it, or a control group, whose processes have been
  /// killed but may take a moment to go.
  private static func delete(_ path: String) {
    var tries = 100
    while rmdir(path) != 0, errno == EBUSY, tries > 0 {
      usleep(10_000)
      tries -= 1
    }
    try? FileManager.default.removeItem(atPath: path)
  }
}
