// SPDX-License-Identifier: Apache-2.0

/// The entries of one group, in the order of their insertion. Used under a lock, so every function
/// returns the keys it has taken out, to be destroyed elsewhere.
struct GroupMembers<Key: Hashable> {
  private struct Record {
    /// Insertions reported, less removals reported: 1 for a stored entry, other values while the
    /// reports of threads overtake each other.
    var balance = 0
    /// Insertions that have begun and are not reported yet. The core may have the entry already.
    var pending = 0
    /// The number of the key's valid element in `order`.
    var stamp = 0
    /// Whether it is chosen for eviction, and no longer counted.
    var isLeaving = false
  }

  private var records: [Key: Record] = [:]
  /// Keys in the order of insertion. An element whose stamp is not its record's is out of date.
  private var order: [(key: Key?, stamp: Int)] = []
  private var oldest = 0
  private var lastStamp = 0
  /// The number of entries that count against the quota.
  private(set) var count = 0

  var isEmpty: Bool { records.isEmpty }

  /// The keys that the cache may hold.
  var keys: [Key] {
    var keys: [Key] = []
    keys.reserveCapacity(records.count)
    for (key, record) in records where record.balance > 0 || record.pending > 0 { keys.append(key) }
    return keys
  }

  /// Notes that an insertion begins.
  mutating func expect(_ key: Key) { records[key, default: Record()].pending += 1 }

  /// Notes that the insertion stored nothing.
  mutating func giveUp(_ key: Key) -> [Key?] {
    records[key]?.pending -= 1
    return [change(key, by: 0)]
  }

  /// Notes that the insertion stored the entry.
  mutating func add(_ key: Key) -> [Key?] {
    records[key]?.pending -= 1
    let gone = change(key, by: 1)
    guard let index = records.index(forKey: key) else { return [gone] }
    lastStamp += 1
    records.values[index].stamp = lastStamp
    order.append((key, lastStamp))
    return order.count > 2 * records.count + 16 ? compact() : []
  }

  mutating func remove(_ key: Key) -> [Key?] {
    let gone = change(key, by: -1)
    return order.count > 2 * records.count + 16 ? compact() + [gone] : [gone]
  }

  /// Takes the entry stored longest ago if more than `quota` count. That entry counts no longer.
  mutating func takeOldest(above quota: Int) -> (key: Key?, garbage: [Key?]) {
    guard count > quota else { return (nil, []) }
    var garbage: [Key?] = []
    while oldest < order.count {
      let (key, stamp) = order[oldest]
      order[oldest].key = nil
      oldest += 1
      guard let key else { continue }
      if let index = records.index(forKey: key), records.values[index].stamp == stamp,
        records.values[index].balance > 0, !records.values[index].isLeaving
      {
        records.values[index].isLeaving = true
        count -= 1
        return (key, garbage)
      }
      garbage.append(key)
    }
    return (nil, garbage)
  }

  /// Changes a balance. Returns the key if its record is gone.
  private mutating func change(_ key: Key, by difference: Int) -> Key? {
    var record = records[key] ?? Record()
    let counted = record.balance > 0 && !record.isLeaving
    record.balance += difference
    if difference > 0 { record.isLeaving = false }
    count += (record.balance > 0 && !record.isLeaving ? 1 : 0) - (counted ? 1 : 0)
    if record.balance != 0 || record.pending != 0 {
      records[key] = record
      return nil
    }
    return records.index(forKey: key).map { records.remove(at: $0).key }
  }

  /// Drops elements that are out of date.
  private mutating func compact() -> [Key?] {
    var garbage: [Key?] = []
    var kept: [(key: Key?, stamp: Int)] = []
    for (key, stamp) in order[oldest...] {
      guard let key else { continue }
      if let record = records[key], record.stamp == stamp {
        kept.append((key, stamp))
      } else {
        garbage.append(key)
      }
    }
    order = kept
    oldest = 0
    return garbage
  }
}
