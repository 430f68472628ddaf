// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport
import Synchronization
import Testing

/// The threads that the core makes for itself. Values are destroyed on one of them.
@Suite("Threads of the core", .enabled(if: lrdt_stack_bytes() > 0))
struct SpawnTests {
  /// What the thread has seen; -1 before.
  private static let stackBytes = Atomic<Int>(-1)

  // In a process of its own: the default is that of all threads.
  @Test("They have a large stack, or a larger one like others", arguments: [128 << 10, 64 << 20])
  func stack(bytes: Int) async {
    await #expect(processExitsWith: .success) { [bytes = bytes as Int] in
      precondition(lrdt_set_stack_bytes(bytes))
      let started = lrd_thread_spawn {
        SpawnTests.stackBytes.store(lrdt_stack_bytes(), ordering: .relaxed)
      }
      precondition(started)
      while SpawnTests.stackBytes.load(ordering: .relaxed) < 0 { lrd_yield() }
      precondition(SpawnTests.stackBytes.load(ordering: .relaxed) >= max(bytes, 8 << 20))
    }
  }
}
