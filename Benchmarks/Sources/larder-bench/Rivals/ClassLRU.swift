// SPDX-License-Identifier: Apache-2.0

/// The LRU that tutorials teach: a dictionary from keys to nodes, which are objects on a doubly
/// linked list, everything under one lock. It is correct and the usual choice.
final class ClassLRU<Key, Value, Lock>: Rival
where
  Key: RequestKey, Value: Measurable,
  Lock: Guard & ~Copyable, Lock.State == NodeList<Key, Value>
{
  private let list: Lock

  init(_ limits: Limits) { list = Lock(NodeList(capacity: limits.capacity)) }

  deinit { list.withLock { $0.cutLinks() } }

  @inline(__always)
  func read(_ key: Key) -> UInt64? { list.withLock { $0.value(for: key) }?.number }

  @inline(__always)
  func put(_ value: Value, for key: Key) { list.withLock { $0.insert(value, for: key) } }
}

/// The unguarded part of ``ClassLRU``.
struct NodeList<Key: Hashable, Value> {
  // Both links are strong. Tutorials show a weak back link, which costs much more.
  final class Node {
    let key: Key
    var value: Value
    var previous: Node?
    var next: Node?

    init(key: Key, value: Value) {
      self.key = key
      self.value = value
    }
  }

  private var nodes: [Key: Node] = [:]
  private var head: Node?
  private var tail: Node?
  private let capacity: Int

  init(capacity: Int) { self.capacity = capacity }

  /// Cycles of links would leak, and a long chain of nodes would be destroyed recursively.
  mutating func cutLinks() {
    while let node = head {
      head = node.next
      node.previous = nil
      node.next = nil
    }
    tail = nil
  }

  mutating func value(for key: Key) -> Value? {
    guard let node = nodes[key] else { return nil }
    moveToFront(node)
    return node.value
  }

  mutating func insert(_ value: Value, for key: Key) {
    if let node = nodes[key] {
      node.value = value
      moveToFront(node)
      return
    }
    let node = Node(key: key, value: value)
    nodes[key] = node
    addToFront(node)
    if nodes.count > capacity, let last = tail {
      unlink(last)
      nodes[last.key] = nil
    }
  }

  private mutating func moveToFront(_ node: Node) {
    if node === head { return }
    unlink(node)
    addToFront(node)
  }

  private mutating func addToFront(_ node: Node) {
    node.next = head
    head?.previous = node
    head = node
    if tail == nil { tail = node }
  }

  private mutating func unlink(_ node: Node) {
    if let previous = node.previous { previous.next = node.next } else { head = node.next }
    if let next = node.next { next.previous = node.previous } else { tail = node.previous }
    node.previous = nil
    node.next = nil
  }
}
