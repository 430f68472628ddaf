// SPDX-License-Identifier: Apache-2.0

/// What the loads of one ``LoadingCache`` share. Those of a plain cache share nothing.
final class LoadSettings: Sendable {
  static let plain = LoadSettings(LoadingOptions(), for: Place(file: #fileID, line: #line))

  let options: LoadingOptions
  let limiter: LoadLimiter?

  init(_ options: LoadingOptions, for place: Place) {
    options.check(for: place)
    self.options = options
    limiter = options.loadLimit > 0 ? LoadLimiter(options.loadLimit) : nil
  }

  var goesOn: Bool { options.continuesWithoutCallers }
}
