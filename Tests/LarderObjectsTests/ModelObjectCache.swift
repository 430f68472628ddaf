// SPDX-License-Identifier: Apache-2.0
import Foundation
import LarderObjects

/// What `NSCache` promises, and what `ObjectCache` does where that leaves a choice, so plainly that
/// it is right by reading. Keys and items are numbers. The most recently used entry is first.
struct ModelObjectCache {
  struct Entry: Equatable {
    var key: Int
    var item: Int
    var cost: Int
  }

  struct Content: Equatable {
    var users = 1
    var isDiscarded = false
  }

  private(set) var entries: [Entry] = []
  private(set) var countLimit = 0
  private(set) var costLimit = 0
  var evictsDiscarded = true
  /// By item.
  private(set) var contents: [Content]
  /// The items of which the delegate was told in the last step.
  private(set) var told: [Int] = []

  init(items: Int) { contents = Array(repeating: Content(), count: items) }

  var totalCost: Int { entries.reduce(0) { $0 + $1.cost } }

  mutating func apply(_ step: Step) -> Int? {
    told = []
    switch step {
    case .get(let key): return get(key)
    case .set(let key, let item, let cost): set(key, item, max(cost ?? 0, 0))
    case .remove(let key): take(key).map { tell($0) }
    case .removeAll:
      let all = entries
      entries = []
      for entry in all { tell(entry.item) }
    case .countLimit(let limit):
      countLimit = max(limit, 0)
      trim()
    case .costLimit(let limit):
      costLimit = max(limit, 0)
      trim()
    case .evictsDiscarded(let flag): evictsDiscarded = flag
    case .begin(let item):
      if !contents[item].isDiscarded { contents[item].users += 1 }
    case .end(let item):
      if contents[item].users > 0 { contents[item].users -= 1 }
    case .discard(let item): discard(item)
    }
    return nil
  }

  private mutating func get(_ key: Int) -> Int? {
    guard let index = entries.firstIndex(where: { $0.key == key }) else { return nil }
    let entry = entries.remove(at: index)
    if evictsDiscarded && contents[entry.item].isDiscarded {
      tell(entry.item)
      return nil
    }
    entries.insert(entry, at: 0)
    return entry.item
  }

  private mutating func set(_ key: Int, _ item: Int, _ cost: Int) {
    let old = take(key)
    if costLimit > 0 && cost > costLimit {
      if let old { tell(old) }
      return tell(item)
    }
    entries.insert(Entry(key: key, item: item, cost: cost), at: 0)
    if let old, old != item { tell(old) }
    trim(stores: true)
  }

  private mutating func take(_ key: Int) -> Int? {
    guard let index = entries.firstIndex(where: { $0.key == key }) else { return nil }
    return entries.remove(at: index).item
  }

  /// When room for cost is needed, entries of cost 0 count as used, and the entry that is stored
  /// comes after them. (There are fewer keys than the sixteen that may be passed over in a row.)
  private mutating func trim(stores: Bool = false) {
    let stored = stores ? entries.removeFirst() : nil
    let cost = stored?.cost ?? 0
    let count = stores ? 1 : 0
    while countLimit > 0 && entries.count + count > countLimit { tell(entries.removeLast().item) }
    while costLimit > 0 && totalCost + cost > costLimit {
      while entries.last?.cost == 0 { entries.insert(entries.removeLast(), at: 0) }
      tell(entries.removeLast().item)
    }
    if let stored { entries.insert(stored, at: 0) }
  }

  private mutating func tell(_ item: Int) {
    told.append(item)
    discard(item)
  }

  private mutating func discard(_ item: Int) {
    if contents[item].users == 0 { contents[item].isDiscarded = true }
  }
}

/// One call on a cache or on an item.
enum Step {
  case get(Int)
  case set(Int, item: Int, cost: Int?)
  case remove(Int)
  case removeAll
  case countLimit(Int)
  case costLimit(Int)
  case evictsDiscarded(Bool)
  case begin(Int)
  case end(Int)
  case discard(Int)
}

/// Discardable content as simple as the protocol allows, with its number.
final class Item: NSObject, DiscardableContent {
  let number: Int
  private(set) var content = ModelObjectCache.Content()

  init(_ number: Int) { self.number = number }

  func beginContentAccess() -> Bool {
    guard !content.isDiscarded else { return false }
    content.users += 1
    return true
  }
  func endContentAccess() { content.users -= 1 }
  func discardContentIfPossible() {
    if content.users == 0 { content.isDiscarded = true }
  }
  func isContentDiscarded() -> Bool { content.isDiscarded }
}
