// SPDX-License-Identifier: Apache-2.0

/// Runs `body`, and tells `handle` if the calling task has become more urgent than it was made, and
/// when it becomes so meanwhile.
nonisolated(nonsending)
  func withEscalation<Result: Sendable>(
    _ handle: @escaping @Sendable (TaskPriority) -> Void,
    of body: nonisolated(nonsending) () async -> Result
  ) async -> Result
{
  if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
    await withTaskPriorityEscalationHandler {
      // Nobody tells the handler of what was before it.
      if let base = Task.basePriority, Task.currentPriority > base { handle(Task.currentPriority) }
      return await body()
    } onPriorityEscalated: {
      handle($1)
    }
  } else {
    await body()
  }
}
