// SPDX-License-Identifier: Apache-2.0
import Foundation
public import Larder

extension MemoryPressure {
  /// Follows the notifications of an app on iOS, tvOS and visionOS, from the first call on:
  ///
  /// | notification of `UIApplication` | meaning |
  /// | --- | --- |
  /// | `didReceiveMemoryWarningNotification` | the level ``Larder/MemoryPressure/Level/warning``, for ten seconds: nobody tells when it is over |
  /// | `didEnterBackgroundNotification` | ``Larder/MemoryPressure/enterBackground()`` |
  /// | `willEnterForegroundNotification` | ``Larder/MemoryPressure/enterForeground()`` |
  ///
  /// On these systems the first ``ObjectCache`` does it, so only programs without one need the
  /// call. Elsewhere nobody posts these notifications, and the call does nothing. Any thread may
  /// call it.
  ///
  /// - Complexity: O(1). The work of an answer is done on the thread that posts the notification.
  public static func followApplication() { _ = application }

  /// Made once. The center keeps the observers.
  private static let application: Void = {
    follow("UIApplicationDidReceiveMemoryWarningNotification") { warn(for: .seconds(10)) }
    follow("UIApplicationDidEnterBackgroundNotification") { enterBackground() }
    follow("UIApplicationWillEnterForegroundNotification") { enterForeground() }
  }()

  /// By name, so that UIKit need not be linked.
  private static func follow(_ name: String, _ act: @escaping @Sendable () -> Void) {
    _ = NotificationCenter.default.addObserver(
      forName: Notification.Name(name), object: nil, queue: nil
    ) { _ in act() }
  }

  /// What the first cache of objects does.
  static func followApplicationIfAny() {
    #if os(iOS) || os(tvOS) || os(visionOS)
      followApplication()
    #endif
  }
}
