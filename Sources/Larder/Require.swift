// SPDX-License-Identifier: Apache-2.0

/// Stops the process if a call breaks its contract. Unlike `precondition` it prints the reason in
/// optimized builds too, which is where services run.
@inlinable @inline(__always)
package func require(_ condition: Bool, _ message: StaticString) {
  if !condition { stop(message) }
}

@usableFromInline @inline(never)
func stop(_ message: StaticString) -> Never {
  fatalError("\(message)")
}
