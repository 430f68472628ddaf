// SPDX-License-Identifier: Apache-2.0

/// Decides whether recorded calls could have happened one after another.
///
/// Keys are independent, so each key's calls are judged alone (Herlihy and Wing's locality). One
/// key is a register that can be empty. The search is Wing and Gong's: take any call that no other
/// call wholly precedes, apply it, and go on; remember the (calls taken, state) pairs that failed.
/// The calls of one thread are ordered, so one position for each thread tells which are taken.
public enum Linearizability {
  public enum Mode: Sendable {
    /// Only calls change a key.
    case strict
    /// The cache may drop a key's value at any moment. An absent answer is always right, but a
    /// value never comes back once it was overwritten, removed or seen absent.
    case evicting
  }

  /// The first key whose calls have no legal order, with those calls; `nil` if all have one.
  public static func violation(in calls: [Call], mode: Mode) -> (key: Int, calls: [Call])? {
    let byKey = Dictionary(grouping: calls, by: \.key)
    for key in byKey.keys.sorted() {
      if !hasLegalOrder(byKey[key]!, mode) {
        return (key, byKey[key]!.sorted { $0.began < $1.began })
      }
    }
    return nil
  }

  private struct Position: Hashable {
    var taken: [Int]  // per thread
    var state: Int?
  }

  private static func hasLegalOrder(_ calls: [Call], _ mode: Mode) -> Bool {
    let threads = Dictionary(grouping: calls, by: \.thread).sorted { $0.key < $1.key }
      .map { $0.value.sorted { $0.began < $1.began } }
    let start = Position(taken: threads.map { _ in 0 }, state: nil)
    var seen: Set<Position> = [start]
    var open = [start]
    while let position = open.popLast() {
      if zip(threads, position.taken).allSatisfy({ $0.count == $1 }) { return true }
      for next in successors(of: position, threads, mode) where seen.insert(next).inserted {
        open.append(next)
      }
    }
    return false
  }

  private static func successors(
    of position: Position, _ threads: [[Call]], _ mode: Mode
  ) -> [Position] {
    // A call that began after another open call ended cannot come before it.
    var earliestEnd = UInt64.max
    for (thread, taken) in zip(threads, position.taken) where taken < thread.count {
      earliestEnd = min(earliestEnd, thread[taken].ended)
    }
    var found: [Position] = []
    for (index, thread) in threads.enumerated() where position.taken[index] < thread.count {
      let call = thread[position.taken[index]]
      guard call.began <= earliestEnd else { continue }
      if call.isLook, call.successors(of: position.state) != nil {
        // A call that may come now and never changes anything may as well come now.
        var next = position
        next.taken[index] += 1
        return [next]
      }
      var states = [position.state]
      if mode == .evicting && position.state != nil { states.append(nil) }
      for state in states {
        guard let after = call.successors(of: state) else { continue }
        var next = position
        next.taken[index] += 1
        next.state = after
        found.append(next)
      }
    }
    return found
  }
}
