// SPDX-License-Identifier: Apache-2.0

#if !canImport(ObjectiveC)
  /// What Foundation has on Apple's systems and lacks here.
  protocol NSDiscardableContent: AnyObject {
    func beginContentAccess() -> Bool
    func endContentAccess()
    func discardContentIfPossible()
    func isContentDiscarded() -> Bool
  }
#endif
