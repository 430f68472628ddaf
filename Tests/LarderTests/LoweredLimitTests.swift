// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Values of cost 0 that are stored while a limit is being lowered do not use up what the setter
/// evicts.
@Suite("Lowered limits")
struct LoweredLimitTests {
  static let policies: [EvictionPolicy] = [.cheapestFirst, .costAware, .adaptive, .lru, .fifo]

  @Test(
    "An observer that stores values of cost 0 does not keep a lowered limit from holding",
    arguments: policies, [1, 4])
  func observerStoresFreeValues(policy: EvictionPolicy, shards: Int) {
    let reference = Protected<Cache<Int, Int>?>(nil)
    let next = Protected(1_000_000)
    let cache = Cache<Int, Int>(
      totalCostLimit: 1_000_000, policy: policy, shards: shards,
      onRemoval: { key, _, cost, _ in
        guard cost > 0, let cache = reference.withLock({ $0 }) else { return }
        let key = next.withLock { next in
          next += 1
          return next
        }
        cache.insert(key, forKey: key, cost: 0)
      })
    reference.withLock { $0 = cache }
    defer { reference.withLock { $0 = nil } }
    for key in 0..<1_000 { cache.insert(key, forKey: key, cost: 100) }
    // A thousand insertions, each inside another: AddressSanitizer makes 8 MB of stack of that.
    RealThread(stack: 64 << 20) { cache.totalCostLimit = 1_000 }.join()
    #expect(cache.totalCost <= 1_000)
    cache.checkInvariants()
  }

  @Test("Two threads that store values of cost 0 do not either", arguments: policies)
  func threadsStoreFreeValues(policy: EvictionPolicy) {
    for _ in 0..<Stress.scaled(20, atLeast: 6) {
      let cache = Cache<Int, Int>(totalCostLimit: 1_000_000, policy: policy)
      for key in 0..<1_000 { cache.insert(key, forKey: key, cost: 100) }
      let isDone = Protected(false)
      onThreads(3) { thread in
        if thread == 0 {
          cache.totalCostLimit = 1_000
          isDone.withLock { $0 = true }
          return
        }
        var key = thread * 10_000_000
        while !isDone.withLock({ $0 }) {
          key += 1
          cache.insert(key, forKey: key, cost: 0)
        }
      }
      #expect(cache.totalCost <= 1_000)
      cache.checkInvariants()
    }
  }
}
