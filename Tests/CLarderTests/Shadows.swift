// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport

/// Empty shadows of their own, of which some are asked.
struct Shadows {
  let all: UnsafeMutablePointer<lrd_shadows>
  let asked: lrd_shadow_set

  /// Those of the experts with these numbers are asked.
  init(_ numbers: [UInt32], capacity: UInt32) {
    let bytes = lrd_shadows_bytes(capacity)
    let memory = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 8)
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: bytes)
    all = lrd_shadows_open(memory, capacity)
    asked = numbers.reduce(0) { $0 | 1 << (4 * $1) }
  }

  func deallocate() { UnsafeMutableRawPointer(all).deallocate() }

  /// True when one of those asked holds the key.
  func use(_ mixed: UInt64, hits: UInt32 = 1) -> Bool {
    lrd_shadows_use(all, mixed, hits) & asked != 0
  }

  /// Stores a key that none of those asked holds.
  func add(_ mixed: UInt64, missed: Bool, demand: lrd_demand, keeps: Bool = false) {
    lrd_shadows_add(all, asked, mixed, missed, demand, keeps)
  }
}
