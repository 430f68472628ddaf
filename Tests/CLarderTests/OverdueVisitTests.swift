// SPDX-License-Identifier: Apache-2.0
import CLarder
import Testing

/// When an insertion asks the background thread to come for what expires.
@Suite("Visits for what expires")
struct OverdueVisitTests {
  @Test("One is asked for that comes earlier, or when the planned one is late")
  func asks() throws {
    var rule = lrd_rule_of(
      lrd_expiration(after_write: 3_600_000_000_000, after_access: .max, jitter: 0))
    let timer = try #require(lrd_timer_create(nil, &rule))
    defer { lrd_timer_destroy(timer) }
    #expect(!lrd_timer_asks(timer), "nothing expires")
    let second = UInt64(1_000_000_000) >> UInt64(LRD_TICK_SHIFT)
    let planned = 1_000 * second
    timer.pointee.wake = planned
    for (first, now, asks) in [
      (planned, planned - second, false), (planned + 1, planned + second / 2, false),
      (planned - 1, planned - second, true), (planned + second, planned + 2 * second, true),
    ] {
      timer.pointee.first = first
      timer.pointee.now = now
      #expect(lrd_timer_asks(timer) == asks, "\(first) at \(now)")
    }
  }
}
