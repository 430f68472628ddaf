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
    signals = [SIGINT, SIGTERM, SIGHUP, SIGPIPE].map { number in
      signal(number, SIG_IGN)  // the dispatch source handles it
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        Cleanup.shared.removeAll()
        _exit(128 + number)
      }
      source.resume()
      return source
    }
  }

  func add(_ path: String) { paths.withLock { _ = $0.insert(path) } }

  func remove(_ path: String) {
    try? FileManager.default.removeItem(atPath: path)
    paths.withLock { _ = $0.remove(path) }
  }

  func add(child: pid_t) { children.withLock { _ = $0.insert(child) } }
  func forget(child: pid_t) { children.withLock { _ = $0.remove(child) } }

  private func removeAll() {
    for child in children.withLock({ $0 }) { kill(child, SIGKILL) }
    for path in paths.withLock({ $0 }) { try? FileManager.default.removeItem(atPath: path) }
  }
}
