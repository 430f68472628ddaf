// SPDX-License-Identifier: Apache-2.0

/// Stops the process if a call breaks its contract. Unlike `precondition` it prints the reason in
/// optimized builds too, which is where services run.
///
/// Public functions pass on the place of the call. Setters of properties cannot know it, so their
/// messages name the property.
@inlinable @inline(__always)
package func require(
  _ condition: Bool, _ message: StaticString, file: StaticString = #fileID, line: UInt = #line
) {
  if !condition { stop(message, file: file, line: line) }
}

@usableFromInline @inline(never)
func stop(_ message: StaticString, file: StaticString, line: UInt) -> Never {
  fatalError("\(message)", file: file, line: line)
}

/// A place in the source of a program, to be named when what it brought in breaks a contract.
struct Place: Sendable {
  let file: StaticString
  let line: UInt
}
