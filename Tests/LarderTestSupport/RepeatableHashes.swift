// SPDX-License-Identifier: Apache-2.0
import Larder

extension Cache.Options {
  /// Options for hashes that are the same in every run, for tests whose outcome depends on which
  /// keys are sampled or taken for each other. Each number draws another sample.
  package static func repeatable(_ number: UInt64 = 0) -> Self {
    var random = SplitMix64(seed: number)
    var options = Self()
    options.hashSeeds = (random.next(), random.next())
    return options
  }
}
