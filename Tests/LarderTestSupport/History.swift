// SPDX-License-Identifier: Apache-2.0

/// One finished call on one key, with the interval in which it must have taken effect.
public struct Call: Sendable, CustomStringConvertible {
  public enum Kind: Sendable, Hashable {
    /// Returned the value, or `nil` for an absent key.
    case read(Int?)
    /// Stored a value. Returned whether an older one was replaced, if it told.
    case write(Int, replaced: Bool?)
    /// Stored a value and returned the older one.
    case update(Int, old: Int?)
    /// Removed the key and returned its value.
    case remove(Int?)
    /// Removed the key and returned nothing.
    case clear
  }

  public let key: Int
  public let kind: Kind
  public let thread: Int
  public let began: UInt64
  public let ended: UInt64

  public init(key: Int, kind: Kind, thread: Int, began: UInt64, ended: UInt64) {
    self.key = key
    self.kind = kind
    self.thread = thread
    self.began = began
    self.ended = ended
  }

  public var description: String { "\(began)-\(ended) thread \(thread): \(kind)" }

  /// Whether the call never changes anything.
  var isLook: Bool {
    switch kind {
    case .read, .remove(nil): true
    case .write, .update, .remove, .clear: false
    }
  }

  /// The states that this call may leave if it takes effect on `state`; empty if its answer
  /// contradicts `state`.
  func successors(of state: Int?) -> Int?? {
    switch kind {
    case .read(let value): value == state ? .some(state) : .none
    case .write(let value, let replaced):
      replaced == nil || replaced == (state != nil) ? .some(value) : .none
    case .update(let value, let old): old == state ? .some(value) : .none
    case .remove(let value): value == state ? .some(nil) : .none
    case .clear: .some(nil)
    }
  }
}

/// The calls of one thread, stamped with the monotonic clock. One recorder for each thread.
public struct HistoryRecorder: Sendable {
  public private(set) var calls: [Call] = []
  private let thread: Int

  public init(thread: Int, capacity: Int) {
    self.thread = thread
    calls.reserveCapacity(capacity)
  }

  public mutating func record(_ key: Int, _ call: () -> Call.Kind) {
    let began = Clock.now
    let kind = call()
    calls.append(
      Call(key: key, kind: kind, thread: thread, began: began, ended: Clock.now))
  }
}
