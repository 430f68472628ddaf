// SPDX-License-Identifier: Apache-2.0

/// A recorded run of calls and loads. All stamps are of the monotonic clock.
public struct LoadHistory: Sendable {
  /// One run of a loader. Values tell which load they are of.
  public struct Load: Sendable {
    public let key: Int
    public let value: Int
    public let began: UInt64
    public let ended: UInt64
    /// The call that ran the loader.
    public var call: (thread: Int, began: UInt64, ended: UInt64) = (0, 0, .max)

    public init(key: Int, value: Int, began: UInt64, ended: UInt64) {
      self.key = key
      self.value = value
      self.began = began
      self.ended = ended
    }
  }

  /// Reads include calls that load or wait for a load. Removals of all keys are one for each key.
  public var calls: [Call] = []
  public var loads: [Load] = []
  /// Those of the calls that may have waited for a load.
  public var waits: [Call] = []
  /// Calls that never returned.
  public var unfinished = 0
  /// Moves of the clock, by one each.
  public var moves: [(began: UInt64, ended: UInt64)] = []
  /// After how many moves a value has expired; `nil` for never.
  public var lifetime: Int?

  public init() {}

  public mutating func add(_ other: LoadHistory) {
    calls += other.calls
    loads += other.loads
    waits += other.waits
    unfinished += other.unfinished
    moves += other.moves
    lifetime = lifetime ?? other.lifetime
  }

  public enum Fault: Sendable, Equatable {
    /// A caller was never woken.
    case lostWaiter
    /// A call that began after a write had returned has a value whose load, or insertion, came
    /// before the write.
    case stale(key: Int)
    /// A call returned a value that had expired before the call began.
    case expired(key: Int)
    /// Two loads of a key at once, with no write that parts them.
    case loadsAtOnce(key: Int)
    /// The calls of a key have no legal order, even if loads store whenever they like.
    case noOrder(key: Int)
  }

  /// What is wrong with the history; `nil` if nothing is.
  public func fault() -> Fault? {
    if unfinished > 0 { return .lostWaiter }
    let callsByKey = Dictionary(grouping: calls, by: \.key)
    let loadsByKey = Dictionary(grouping: loads, by: \.key)
    for key in callsByKey.keys.sorted() {
      let calls = callsByKey[key]!
      let loads = (loadsByKey[key] ?? []).sorted { $0.began < $1.began }
      let writes = calls.filter(\.isWrite).sorted { $0.began < $1.began }
      if Self.overlap(loads, writes) { return .loadsAtOnce(key: key) }
      if Self.isStale(calls, loads, writes) { return .stale(key: key) }
      if isExpired(calls, loads) { return .expired(key: key) }
      // A load stores at some moment of the call that runs it, as if another thread did. It may
      // find that it must not. Nobody can tell unless its value was seen, and then it was in order
      // until a write came.
      let seen = Set(calls.compactMap(\.valueRead))
      let stores = loads.filter { seen.contains($0.value) }.map { load in
        Call(
          key: key, kind: .write(load.value, replaced: nil), thread: 1_000 + load.call.thread,
          began: load.call.began, ended: load.call.ended)
      }
      // Who joins a flight gets its value, even if that was evicted meanwhile: no write came. Such
      // a call stores, as far as anyone can tell, just before it reads. The flight is that of a
      // call that began earlier and has the same value.
      let waits = waits.filter { $0.key == key && $0.valueRead != nil }
      let waitsByValue = Dictionary(grouping: waits, by: \.valueRead)
      let joins = waits.filter { call in
        waitsByValue[call.valueRead]!.contains { $0.began < call.began && call.began < $0.ended }
      }.map { call in
        Call(
          key: key, kind: .write(call.valueRead!, replaced: nil), thread: 2_000 + call.thread,
          began: call.began, ended: call.ended)
      }
      if Linearizability.violation(in: calls + stores + joins, mode: .evicting) != nil {
        return .noOrder(key: key)
      }
    }
    return nil
  }

  private static func isStale(_ calls: [Call], _ loads: [Load], _ writes: [Call]) -> Bool {
    var origins = Dictionary(loads.map { ($0.value, $0.began) }) { first, _ in first }
    for case (.write(let value, _), let ended) in writes.map({ ($0.kind, $0.ended) }) {
      origins[value] = ended
    }
    return calls.contains { call in
      guard let origin = call.valueRead.flatMap({ origins[$0] }) else { return false }
      return writes.contains { origin < $0.began && $0.ended < call.began }
    }
  }

  /// A value was stored before the call that stored it had returned, so when the clock showed at
  /// most the moves that had begun by then. A call looks at the clock after it has begun, so when
  /// that shows at least the moves that had ended by then.
  private func isExpired(_ calls: [Call], _ loads: [Load]) -> Bool {
    guard let lifetime else { return false }
    let began = moves.map(\.began).sorted()
    let ended = moves.map(\.ended).sorted()
    var latest: [Int: Int] = [:]
    for load in loads { latest[load.value] = began.count { $0 < load.call.ended } }
    for case (.write(let value, _), let end) in calls.map({ ($0.kind, $0.ended) }) {
      latest[value] = began.count { $0 < end }
    }
    return calls.contains { call in
      guard let written = call.valueRead.flatMap({ latest[$0] }) else { return false }
      return ended.count { $0 < call.began } >= written + lifetime
    }
  }

  private static func overlap(_ loads: [Load], _ writes: [Call]) -> Bool {
    loads.indices.contains { index in
      loads[(index + 1)...].prefix { $0.began < loads[index].ended }.contains { other in
        !areParted(loads[index], other, by: writes) && !areParted(other, loads[index], by: writes)
      }
    }
  }

  /// Whether a write may have come between the moments at which the loads began. A loader may begin
  /// later than the load does: somewhere between that of the call and its own first stamp.
  private static func areParted(_ first: Load, _ second: Load, by writes: [Call]) -> Bool {
    writes.contains { $0.began < second.began && $0.ended > first.call.began }
  }
}

extension Call {
  var isWrite: Bool {
    switch kind {
    case .read: false
    case .write, .update, .remove, .clear: true
    }
  }

  /// The value that the call returned as that of its key.
  var valueRead: Int? {
    switch kind {
    case .read(let value), .remove(let value): value
    case .update(_, let old): old
    case .write, .clear: nil
    }
  }
}
