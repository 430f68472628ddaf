// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Synchronization
import Testing

/// Thrown when the cache and the model, or two runs, differ.
struct Mismatch: Error, CustomStringConvertible {
  let description: String
}

/// `#require` for the inner loop of enumerations. It builds no text and no record unless it fails.
func same<Value: Equatable>(
  _ actual: Value, _ expected: Value, _ what: String, _ place: () -> String,
  _ location: SourceLocation = #_sourceLocation
) throws {
  if actual == expected { return }
  let text = "\(what): \(actual), the model has \(expected), \(place())"
  Issue.record("\(text)", sourceLocation: location)
  throw Mismatch(description: text)
}

/// Runs `script` on the cache and on the model, and compares them after every step from
/// `checkedFrom` on. Earlier steps are the last steps of other scripts.
func compare<Key>(
  _ script: [Operation], from limits: Limits, _ driver: CacheDriver<Key>, checkedFrom: Int = 0,
  observed: Bool = true
) throws {
  var model = ModelCache(
    countLimit: limits.count, costLimit: limits.cost, policy: driver.cache.policy)
  for (step, operation) in script.enumerated() {
    let place = { "step \(step) of \(script), \(limits)" }
    let expected = model.apply(operation, payload: step)
    let answer = driver.apply(operation, payload: step)
    let removals = driver.takeRemovals()
    if step < checkedFrom { continue }
    try same(answer, expected, "answer", place)
    if observed { try same(removals.sorted(), model.removals.sorted(), "removals", place) }
    try compareState(driver, model, place)
  }
  try compareEnds(driver, model) { "after \(script), \(limits)" }
}

/// Compares everything a caller can see, without changing it.
func compareState<Key>(
  _ driver: CacheDriver<Key>, _ model: ModelCache, _ place: () -> String
) throws {
  let cache = driver.cache
  cache.checkInvariants()
  try same(driver.entries, model.entries, "entries", place)
  try same(cache.count, model.entries.count, "count", place)
  try same(cache.isEmpty, model.entries.isEmpty, "isEmpty", place)
  try same(cache.totalCost, model.totalCost, "totalCost", place)
  try same(cache.countLimit, model.countLimit, "countLimit", place)
  try same(cache.totalCostLimit, model.costLimit, "totalCostLimit", place)
  try same(ModelStatistics(cache.statistics), model.statistics, "statistics", place)
}

/// Compares both ends of the order, then the values alive.
func compareEnds<Key>(
  _ driver: CacheDriver<Key>, _ model: ModelCache, _ place: () -> String
) throws {
  for n in [0, 1, 2, model.entries.count + 1] {
    let hottest = driver.entries(driver.cache.hottest(n))
    try same(hottest, Array(model.entries.prefix(n)), "hottest(\(n))", place)
    let coldest = driver.entries(driver.cache.coldest(n))
    try same(coldest, Array(model.entries.reversed().prefix(n)), "coldest(\(n))", place)
  }
  _ = settles(driver.tracker, at: model.entries.count, driver.cache)
  try same(driver.tracker.live, model.entries.count, "live values", place)
  try same(driver.tracker.faults, [], "faults", place)
}

private let hasWaitedInVain = Atomic<Bool>(false)

/// Whether `count` tracked values are left alive once the cache has reclaimed what nobody reads.
/// Another thread may just be destroying values; the first call waits for it, ten seconds at most,
/// and later ones only briefly if that was in vain.
func settles<Key>(
  _ tracker: LifetimeTracker, at count: Int, _ cache: Cache<Key, some Sendable>
) -> Bool {
  cache.reclaim()
  let end = Clock.now + (hasWaitedInVain.load(ordering: .relaxed) ? 20_000_000 : 10_000_000_000)
  while tracker.live != count {
    if Clock.now > end {
      hasWaitedInVain.store(true, ordering: .relaxed)
      return false
    }
    sleepBriefly()
    cache.reclaim()
  }
  return true
}
