// SPDX-License-Identifier: Apache-2.0
// A pure function that remembers its results: the command that somebody may have meant.
//
//     swift run --package-path Examples memoize comit pusj comit
import Larder
import Synchronization

/// `function`, which must be pure, with its last `limit` results kept. From any thread.
func memoize<Argument: Hashable & Sendable, Result: Sendable>(
  limit: Int, _ function: @escaping @Sendable (Argument) -> Result
) -> @Sendable (Argument) -> Result {
  let results = Cache<Argument, Result>(countLimit: limit)
  return { argument in
    if let result = results[argument] { return result }
    let result = function(argument)
    results[argument] = result
    return result
  }
}

/// The least number of letters to insert, delete or exchange (Wagner and Fischer, 1974).
func distance(_ a: String, _ b: String) -> Int {
  var row = Array(0...b.count)
  for (i, letter) in a.enumerated() {
    var diagonal = row[0]
    row[0] = i + 1
    for (j, other) in b.enumerated() {
      let exchanged = diagonal + (letter == other ? 0 : 1)
      diagonal = row[j + 1]
      row[j + 1] = min(exchanged, row[j] + 1, diagonal + 1)
    }
  }
  return row[b.count]
}

let commands = ["add", "branch", "checkout", "commit", "fetch", "merge", "pull", "push", "status"]
let computed = Atomic(0)
let meant = memoize(limit: 1_000) { (typed: String) in
  computed.add(1, ordering: .relaxed)
  return commands.min { distance($0, typed) < distance($1, typed) }!
}

var words = Array(CommandLine.arguments.dropFirst())
if words.isEmpty { words = ["comit", "pusj", "comit", "stauts", "comit", "pusj"] }
for word in words { print("\(word): did you mean \(meant(word))?") }
print("\(words.count) answers, \(computed.load(ordering: .relaxed)) computed")
