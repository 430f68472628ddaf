// SPDX-License-Identifier: Apache-2.0

/// Counts the values it has made: how many live, which ones, and whether one died twice.
public final class LifetimeTracker: Sendable {
  private struct State {
    var isLive: [Bool] = []  // by id
    var live = 0
    var peak = 0
    var faults: [String] = []
  }

  private let state = Protected(State())

  public init() {}

  /// A new tracked value. Its identity within this tracker is `id`, counted from 0.
  public func make(_ payload: Int = 0, onRelease: (@Sendable () -> Void)? = nil) -> Tracked {
    let id = state.withLock { state in
      state.isLive.append(true)
      state.live += 1
      state.peak = max(state.peak, state.live)
      return state.isLive.count - 1
    }
    return Tracked(id: id, payload: payload, tracker: self, onRelease: onRelease)
  }

  fileprivate func died(_ id: Int, intact: Bool) {
    state.withLock { state in
      if !intact { state.faults.append("value \(id) was overwritten") }
      if !state.isLive.indices.contains(id) || !state.isLive[id] {
        state.faults.append("value \(id) was destroyed twice")
      } else {
        state.isLive[id] = false
        state.live -= 1
      }
    }
  }

  public var created: Int { state.withLock { $0.isLive.count } }
  public var live: Int { state.withLock { $0.live } }
  public var destroyed: Int { state.withLock { $0.isLive.count - $0.live } }
  /// The most values alive at the same time since the last `resetPeak()`.
  public var peak: Int { state.withLock { $0.peak } }
  public func resetPeak() { state.withLock { $0.peak = $0.live } }
  public var liveIDs: [Int] {
    state.withLock { state in state.isLive.indices.filter { state.isLive[$0] } }
  }
  /// Double destructions and overwritten values seen so far.
  public var faults: [String] { state.withLock { $0.faults } }
  public func isLive(_ id: Int) -> Bool { state.withLock { $0.isLive[id] } }
}

/// A value whose tracker sees its creation and destruction.
public final class Tracked: Sendable, CustomStringConvertible {
  public let id: Int
  public let payload: Int
  private let tracker: LifetimeTracker
  private let onRelease: (@Sendable () -> Void)?
  private let seal: UInt64

  private static func seal(_ id: Int, _ payload: Int) -> UInt64 {
    var mix = SplitMix64(seed: UInt64(truncatingIfNeeded: id &* 31 &+ payload))
    return mix.next()
  }

  fileprivate init(
    id: Int, payload: Int, tracker: LifetimeTracker, onRelease: (@Sendable () -> Void)?
  ) {
    self.id = id
    self.payload = payload
    self.tracker = tracker
    self.onRelease = onRelease
    seal = Self.seal(id, payload)
  }

  /// Whether this is a live, unbroken value. False for memory that was given back and reused.
  public var isIntact: Bool { seal == Self.seal(id, payload) && tracker.isLive(id) }
  public var description: String { "value \(id) (\(payload))" }

  deinit {
    tracker.died(id, intact: seal == Self.seal(id, payload))
    onRelease?()
  }
}
