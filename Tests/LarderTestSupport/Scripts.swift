// SPDX-License-Identifier: Apache-2.0

/// Calls `body` with every script of `length` operations from `alphabet`.
///
/// Scripts that differ only in the names of their keys behave alike. So a script is kept if its
/// keys first appear in the order 0, 1, 2, … That is about a sixth of the scripts for three keys.
public func forEveryScript(
  of alphabet: [Operation], length: Int, _ body: ([Operation]) throws -> Void
) rethrows {
  var script: [Operation] = []
  func extend(_ used: Int) throws {
    if script.count == length { return try body(script) }
    for operation in alphabet {
      guard let after = keysNamed(by: operation, after: used) else { continue }
      script.append(operation)
      try extend(after)
      script.removeLast()
    }
  }
  func keysNamed(by operation: Operation, after before: Int) -> Int? {
    var used = before
    for key in operation.keys {
      if key > used { return nil }
      used = max(used, key + 1)
    }
    return used
  }
  try extend(0)
}

/// The same with all scripts, or a sample of them where the work is scaled down.
public func forManyScripts(
  of alphabet: [Operation], length: Int, _ body: ([Operation]) throws -> Void
) rethrows {
  var random = SplitMix64(seed: UInt64(length))
  try forEveryScript(of: alphabet, length: length) { script in
    if random.below(Stress.divisor) == 0 { try body(script) }
  }
}

extension Operation {
  /// The operations whose interplay decides what a cache keeps.
  public static let core: [Operation] =
    (0..<3).flatMap { key in
      [.get(key), .insert(key, cost: 1), .insert(key, cost: 2), .remove(key)] as [Operation]
    }

  /// Every operation, on each of three keys if it takes a key.
  public static let every: [Operation] =
    (0..<3).flatMap { key in
      [
        .get(key), .getBySubscript(key), .lend(key), .peek(key), .contains(key),
        .insert(key, cost: nil), .insert(key, cost: 2), .insert(key, cost: 9),
        .update(key, cost: 1), .setBySubscript(key), .clearBySubscript(key), .remove(key),
      ] as [Operation]
    } + [
      .getMany([0, 1]), .getMany([1, 0, 1]), .removeAll, .removeOdd, .trimToCount(1),
      .trimToCost(1), .setCountLimit(1), .setCountLimit(0), .setCostLimit(2), .setCostLimit(0),
    ]
}
