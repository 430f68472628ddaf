// SPDX-License-Identifier: Apache-2.0

/// The LRU that a careful engineer writes: nodes in one array, linked by indices. Neither a hit nor
/// an eviction allocates, or counts references to nodes.
final class IndexLRU<Key, Value, Lock>: Rival
where
  Key: RequestKey, Value: Measurable,
  Lock: Guard & ~Copyable, Lock.State == IndexList<Key, Value>
{
  private let list: Lock

  init(_ limits: Limits) { list = Lock(IndexList(capacity: limits.capacity)) }

  @inline(__always)
  func read(_ key: Key) -> UInt64? { list.withLock { $0.value(for: key) }?.number }

  @inline(__always)
  func put(_ value: Value, for key: Key) {
    // The replaced or evicted value leaves the lock before it is released.
    _ = list.withLock { $0.insert(value, for: key) }
  }
}

/// The unguarded part of ``IndexLRU``. A full list reuses the array element of its oldest node.
struct IndexList<Key: Hashable, Value> {
  private struct Node {
    var key: Key
    var value: Value
    var previous: Int32
    var next: Int32
  }

  private static var none: Int32 { -1 }

  private var indices: [Key: Int32] = [:]
  private var nodes: [Node] = []
  private var head = none
  private var tail = none
  private let capacity: Int

  init(capacity: Int) { self.capacity = capacity }

  mutating func value(for key: Key) -> Value? {
    guard let index = indices[key] else { return nil }
    moveToFront(index)
    return nodes[Int(index)].value
  }

  /// Stores `value` and returns the value that had to leave for it.
  mutating func insert(_ value: Value, for key: Key) -> Value? {
    if let index = indices[key] {
      let old = nodes[Int(index)].value
      nodes[Int(index)].value = value
      moveToFront(index)
      return old
    }
    if nodes.count < capacity {
      let index = Int32(nodes.count)
      nodes.append(Node(key: key, value: value, previous: Self.none, next: Self.none))
      indices[key] = index
      addToFront(index)
      return nil
    }
    let index = tail
    let old = nodes[Int(index)]
    unlink(index)
    indices[old.key] = nil
    nodes[Int(index)] = Node(key: key, value: value, previous: Self.none, next: Self.none)
    indices[key] = index
    addToFront(index)
    return old.value
  }

  private mutating func moveToFront(_ index: Int32) {
    if index == head { return }
    unlink(index)
    addToFront(index)
  }

  private mutating func addToFront(_ index: Int32) {
    nodes[Int(index)].previous = Self.none
    nodes[Int(index)].next = head
    if head != Self.none { nodes[Int(head)].previous = index } else { tail = index }
    head = index
  }

  private mutating func unlink(_ index: Int32) {
    let previous = nodes[Int(index)].previous
    let next = nodes[Int(index)].next
    if previous != Self.none { nodes[Int(previous)].next = next } else { head = next }
    if next != Self.none { nodes[Int(next)].previous = previous } else { tail = previous }
  }
}
