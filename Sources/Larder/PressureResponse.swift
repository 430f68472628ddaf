// SPDX-License-Identifier: Apache-2.0
import CLarder

/// What a cache does when memory runs short.
///
///     cache.pressure = .ignore
///     cache.pressure = PressureResponse(warning: 0.75, critical: 0.25, minimumCount: 10)
///     cache.pressure = PressureResponse { level in level == .critical ? .removeAll : .keepAll }
public struct PressureResponse: Sendable {
  /// What to do at one level.
  public enum Action: Sendable, Hashable {
    /// Removes nothing.
    case keepAll
    /// Keeps this fraction, 0...1, of what there was when the pressure began, rounded up: the
    /// hottest by the policy's order. Until the pressure is over, the limits are lowered to the
    /// same fraction.
    case keep(Double)
    /// Removes every object that nobody but the cache holds. Values of other types than a class
    /// count as held by nobody, also optional objects, those of a protocol's type, and structures
    /// that refer to objects. The limits stay. On Apple's systems objects of classes that come from
    /// Objective-C count as held.
    case keepReferenced
    /// Removes everything. The limits stay.
    case removeAll
  }

  enum Kind {
    case ignore
    case actions(warning: Action, critical: Action)
    case closure(@Sendable (MemoryPressure.Level) -> Action)
  }

  let kind: Kind
  let minimumCount: Int
  let background: Action?
  /// Where the response was made.
  let place: Place

  /// Keeps half at a warning, a tenth when it is critical, and everything in the background.
  public static let `default` = PressureResponse()

  /// Keeps everything, whatever happens.
  public static let ignore = PressureResponse(
    kind: .ignore, minimumCount: 0, background: nil, place: Place(file: #fileID, line: #line))

  /// Keeps a fraction at each level. Where costs are limited it is one of the cost, and entries of
  /// cost 0 may stay even if it is 0; ``Action/removeAll`` removes them, too.
  ///
  /// - Parameters:
  ///   - warning: The fraction to keep at a warning. Must be in 0...1.
  ///   - critical: The fraction to keep when memory is critical. Must be in 0...1.
  ///   - minimumCount: Never keeps fewer entries than that. Must not be negative.
  ///   - background: The fraction to keep while the program is in the background, 0...1; `nil` for
  ///     everything.
  ///   - file: The file of the call, for the message of a trap.
  ///   - line: The line of the call, for the message of a trap.
  public init(
    warning: Double = 0.5, critical: Double = 0.1, minimumCount: Int = 0, background: Double? = nil,
    file: StaticString = #fileID, line: UInt = #line
  ) {
    let place = Place(file: file, line: line)
    Action.keep(warning).check("warning must be in 0...1", place)
    Action.keep(critical).check("critical must be in 0...1", place)
    let background = background.map(Action.keep)
    background?.check("background must be in 0...1", place)
    self.init(
      kind: .actions(warning: .keep(warning), critical: .keep(critical)),
      minimumCount: minimumCount, background: background, place: place)
  }

  /// Does what these actions say. Fractions must be in 0...1, and `minimumCount` not negative.
  public init(
    onWarning: Action, onCritical: Action, inBackground: Action = .keepAll, minimumCount: Int = 0,
    file: StaticString = #fileID, line: UInt = #line
  ) {
    let place = Place(file: file, line: line)
    onWarning.check("onWarning must be in 0...1", place)
    onCritical.check("onCritical must be in 0...1", place)
    inBackground.check("inBackground must be in 0...1", place)
    self.init(
      kind: .actions(warning: onWarning, critical: onCritical),
      minimumCount: minimumCount, background: inBackground, place: place)
  }

  /// Asks a closure at each warning and each critical report, and once a second while the system's
  /// level lasts.
  ///
  /// The closure runs without a lock, on the thread that reports, or on a thread for such closures
  /// if the system does. It may use the cache, and may release it. Until it returns, only caches
  /// with such closures wait for it. It should not hold the cache that it belongs to strongly.
  ///
  /// - Parameters:
  ///   - minimumCount: Never keeps fewer entries than that. Must not be negative.
  ///   - background: The fraction to keep while the program is in the background, 0...1; `nil` for
  ///     everything.
  ///   - file: The file of the call, for the message of a trap.
  ///   - line: The line of the call, for the message of a trap.
  ///   - respond: What to do at a level. A fraction that it returns must be in 0...1.
  public init(
    minimumCount: Int = 0, background: Double? = nil,
    file: StaticString = #fileID, line: UInt = #line,
    _ respond: @escaping @Sendable (MemoryPressure.Level) -> Action
  ) {
    let place = Place(file: file, line: line)
    let background = background.map(Action.keep)
    background?.check("background must be in 0...1", place)
    self.init(
      kind: .closure(respond), minimumCount: minimumCount, background: background, place: place)
  }

  private init(kind: Kind, minimumCount: Int, background: Action?, place: Place) {
    require(
      minimumCount >= 0, "minimumCount must not be negative", file: place.file, line: place.line)
    self.kind = kind
    self.minimumCount = minimumCount
    self.background = background
    self.place = place
  }
}

extension PressureResponse.Action {
  /// Stops the process unless the fraction, if there is one, is one.
  fileprivate func check(_ message: StaticString, _ place: Place) {
    guard case .keep(let fraction) = self else { return }
    require(fraction >= 0 && fraction <= 1, message, file: place.file, line: place.line)
  }

  var core: lrd_action {
    switch self {
    case .keepAll: lrd_action(keep: 1, unheld: false, once: true)
    case .keep(let fraction): lrd_action(keep: fraction, unheld: false, once: false)
    case .keepReferenced: lrd_action(keep: 1, unheld: true, once: true)
    case .removeAll: lrd_action(keep: 0, unheld: false, once: true)
    }
  }
}

extension PressureResponse {
  /// The response in the core's terms. What a closure would say is left open.
  var core: lrd_response {
    var core = lrd_response()
    core.least = UInt64(minimumCount)
    core.at.0 = Action.keepAll.core
    core.at.3 = (background ?? .keepAll).core
    switch kind {
    case .ignore: break
    case .actions(let warning, let critical):
      core.heeds = true
      core.at.1 = warning.core
      core.at.2 = critical.core
    case .closure:
      core.heeds = true
      core.asks = true
    }
    return core
  }

  /// Asks the closure.
  func action(at level: MemoryPressure.Level) -> Action {
    guard case .closure(let respond) = kind else { return .keepAll }
    let action = respond(level)
    action.check("fraction must be in 0...1", place)
    return action
  }
}
