// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport
import Testing

// Not under sanitizers: it steps through single instructions, most of which would be theirs.

/// The first lifetime of a cache, seen by another thread that gives one at the same time.
@Suite("The first lifetime of a cache, step by step", .enabled(if: lrdt_play_available()))
struct FirstLifetimeOrderTests {
  @Test("Nobody is told of room before lookups look at deadlines", arguments: [false, true])
  func order(byUse: Bool) async {
    await #expect(processExitsWith: .success) { [byUse = byUse as Bool] in
      let core = try TimedCore(timed: false)
      for number: UInt64 in 0..<3 { _ = core.insert(number) }
      // The background thread must not be started by a thread that goes in steps.
      lrd_cache_ask(core.cache)
      var steps: UInt64 = 0
      if let fault = lrdt_retrofit_in_steps(core.cache, byUse, &steps) {
        fatalError("\(String(cString: fault)) after \(steps) steps")
      }
      precondition(steps > 1_000 && lrd_cache_has_room(core.cache, byUse))
      core.close()
    }
  }
}
