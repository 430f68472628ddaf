// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Measures ObjectCache beside Foundation's NSCache in one run, sample by sample in turn:
///
///     swift run -c release --package-path Benchmarks larder-objects-bench [samples]
///
/// Fails if a ratio is above its bar.
@main
enum Main {
  static func main() {
    let samples = max(CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 9, 3)
    var report = Report()
    // The larger caches do not fit the processor's. Then both wait for memory: at least for the
    // key, a bucket, the entry and the object. No bar would hold on every machine.
    for (count, bar) in [(1_000, 0.2), (10_000, nil), (100_000, nil)] {
      measureHits("NSNumber", count, samples: samples, into: &report, bar: bar) {
        NSNumber(value: $0)
      }
      measureHits("NSString", count, samples: samples, into: &report, bar: bar) {
        NSString(string: "https://example.com/image/\($0)")
      }
    }
    measureInsertions(1_000, samples: samples, into: &report)
    measureInsertions(10_000, samples: samples, into: &report)
    measureInsertions(100_000, samples: samples, into: &report, bar: 0.1)
    guard report.missed > 0 else { return }
    print("\(report.missed) ratios are above their bars.")
    exit(1)
  }
}
