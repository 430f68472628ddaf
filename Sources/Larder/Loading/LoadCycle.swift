// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Thrown by a load that asks for a key whose load waits for it.
///
/// Without it the two would wait for each other for ever. A load waits for what its loader asks
/// for, also through other threads and tasks that inherit the loader's task-local values: child
/// tasks, `Task { }`, and whatever other loads run on. A thread that a loader starts by hand, and
/// `Task.detached`, inherit none, so cycles through these are not seen.
///
/// Keys that are loaded in one call are one load: it waits for what its loader asks for, whichever
/// key that is for. So a loader of several keys that asks for another one gets a `LoadCycle` if the
/// same call is to load that as well, or if the load of that waits for a key of the call, although
/// there may be no cycle among the keys themselves. With ``LoadingOptions/gathering`` it depends on
/// the moment which keys come together. Where the value of a key is made from those of others, the
/// loader of several keys should not ask the cache for these.
///
/// Nobody can tell whether a loader will wait for a `Task { }` that it starts. So until the load
/// ends, it counts as waiting for what the task asks for. Afterwards the load that has asked for it
/// does, until that ends. A loader that begins other loads and does not wait for them should use
/// `Task.detached`. Nobody sees that another load waits for a task that this one has left behind.
public struct LoadCycle: Error, CustomStringConvertible {
  /// The keys of the cycle, each of which was asked for by the one before, and the first by the
  /// last. They may belong to several caches.
  public let keys: [any Hashable & Sendable]

  public var description: String {
    "a load waits for itself: " + (keys + keys.prefix(1)).map { "\($0)" }.joined(separator: " > ")
  }
}

/// A load as the others see it: something that waits, and is waited for.
class LoadNode: @unchecked Sendable {
  // Sendable: the lock of `LoadGraph` guards `awaited`; `whole` and `loader` are set before the
  // loader begins; the rest is atomic. The subclass has an argument of its own.

  /// What this load waits for, as often as it does.
  fileprivate var awaited: [LoadNode] = []

  private let needed = Atomic(false)

  /// Whether a load waits for this one. See `LoadLimiter`.
  var isNeeded: Bool {
    LoadPoints.see()
    return needed.load(ordering: .relaxed)
  }

  func need() { needed.store(true, ordering: .relaxed) }

  /// The hash of the task that runs the loader of one key, set before that begins.
  var loader: Int?

  /// `nil` for what loads several keys.
  var nodeKey: (any Hashable & Sendable)? { nil }

  private let closed = Atomic(false)

  fileprivate var isClosed: Bool { closed.load(ordering: .relaxed) }

  /// Notes that the load is over, before anybody who waits is woken: its loader has returned, and
  /// so have the observers of its storing. Tasks that these have left behind are no part of it any
  /// more. (Relaxed: a task that does not see it yet asks as a part of the load a moment too long.)
  func close() {
    closed.store(true, ordering: .relaxed)
    whole?.close()
  }

  /// The load of several keys that is over with this one, its last.
  var whole: LoadNode?

  /// The load that this code is a part of, if any: the innermost that is not over.
  static var running: LoadNode? {
    guard let load = inherited else { return nil }
    return load.isClosed ? open(outer)?.load : load
  }

  /// The load by whose loader this code has begun.
  @TaskLocal private static var inherited: LoadNode?

  /// A load that was not over when one inside it began, and those around it. It may wait for what
  /// the one inside leaves behind.
  private final class Outer: Sendable {
    let load: LoadNode
    let outer: Outer?

    init(_ load: LoadNode, in outer: Outer?) {
      self.load = load
      self.outer = outer
    }
  }

  /// The loads around the inherited one. Most have none, and pay nothing for them.
  @TaskLocal private static var outer: Outer?

  /// The innermost of these that is not over.
  private static func open(_ outer: Outer?) -> Outer? {
    var open = outer
    while let closed = open, closed.load.isClosed { open = closed.outer }
    return open
  }

  /// Runs `body`, which begins the loader, as a part of this load.
  func including<Result>(_ body: () throws -> Result) rethrows -> Result {
    guard let load = Self.inherited else {
      return try Self.$inherited.withValue(self, operation: body)
    }
    let open = Self.open(Self.outer)
    return try Self.$outer.withValue(load.isClosed ? open : Outer(load, in: open)) {
      try Self.$inherited.withValue(self, operation: body)
    }
  }
}

/// Which loads wait for which.
///
/// There is an edge from a load to each load that its loader asks for, from before the loader waits
/// until it no longer does. Whoever adds an edge first looks whether it closes a circle, under the
/// same lock. So the edge that would complete a circle is never added, whatever the order of the
/// others. The lock is taken by loads that ask for other loads, and by nobody else.
enum LoadGraph {
  /// It guards `awaited` of all loads. A state of size 0 has no address of its own, so
  /// ThreadSanitizer would take it for what lies beside.
  private static let lock = Guarded(false)

  /// Notes that the load that runs here, if any, is about to wait for `other`. Returns that load.
  static func willAwait(_ other: LoadNode) throws -> LoadNode? {
    guard let asking = LoadNode.running else { return nil }
    let circle = lock.withLock { _ -> [LoadNode] in
      let circle = path(from: other, to: asking)
      if circle.isEmpty { asking.awaited.append(other) }
      return circle
    }
    if !circle.isEmpty { throw LoadCycle(keys: circle.compactMap(\.nodeKey)) }
    return asking
  }

  /// Notes that it no longer waits.
  static func didAwait(_ other: LoadNode, by asking: LoadNode?) {
    guard let asking else { return }
    lock.withLock { _ in
      // The caller holds `other`, so that nothing dies here. Of many waits a thread ends the last
      // one first, and tasks mostly the first ones.
      if asking.awaited.last === other {
        asking.awaited.removeLast()
      } else if let index = asking.awaited.firstIndex(where: { $0 === other }) {
        asking.awaited.remove(at: index)
      }
    }
  }

  /// Notes that a load of one key is done by `bulk`, and that it no longer is.
  static func join(_ node: LoadNode, to bulk: LoadNode) {
    lock.withLock { _ in node.awaited = [bulk] }
  }
  static func part(_ node: LoadNode) {
    let gone = lock.withLock { _ in
      let gone = node.awaited
      node.awaited = []
      return gone
    }
    withExtendedLifetime(gone) {}
  }

  /// The loads on a way along the edges, both ends included; empty if there is none. Every load on
  /// it is awaited by somebody who holds it, so none dies under the lock. One that is over holds
  /// nobody up.
  private static func path(from start: LoadNode, to end: LoadNode) -> [LoadNode] {
    var seen: Set<ObjectIdentifier> = [ObjectIdentifier(start)]
    var path = [(node: start, next: 0)]
    while let (node, next) = path.last {
      if node === end { return path.map(\.node) }
      guard next < node.awaited.count, !node.isClosed else {
        path.removeLast()
        continue
      }
      path[path.count - 1].next += 1
      let other = node.awaited[next]
      if seen.insert(ObjectIdentifier(other)).inserted { path.append((other, 0)) }
    }
    return []
  }
}
