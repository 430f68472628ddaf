// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport
import LarderTestSupport
import Testing

@Suite("Sampled entries of a shard")
struct SamplesTests {
  /// Samples in this many buckets, for as long as `body` takes.
  private static func withSamples(buckets count: UInt32, _ body: (inout lrd_samples) -> Void) {
    let buckets = UnsafeMutablePointer<lrd_sample_bucket>.allocate(capacity: Int(count))
    buckets.initialize(repeating: lrd_sample_bucket(), count: Int(count))
    defer { buckets.deallocate() }
    var samples = lrd_samples()
    lrd_samples_open(&samples, buckets, count)
    body(&samples)
  }

  @Test(
    "Samples agree with a dictionary, whatever part of the buckets is full",
    arguments: [20, 200, 300, 357])
  func samplesAgreeWithADictionary(most: Int) {
    Self.withSamples(buckets: lrd_samples_buckets(200)) { samples in
      var model: [UInt32: UInt32] = [:]
      var random = SplitMix64(seed: 3)
      for step in 0..<20_000 {
        let id = UInt32(random.below(900))
        if let heard = model[id] {
          let sample = lrd_samples_find(&samples, id)
          #expect(sample.bucket != nil && lrd_sample_heard(sample) == heard)
          if step % 4 == 0 {
            lrd_sample_set_heard(sample, UInt32(step / 4 % 4))
            model[id] = UInt32(step / 4 % 4)
          } else if step % 4 == 1 {
            lrd_samples_remove(&samples, id)
            model[id] = nil
          }
        } else if model.count < most {
          lrd_samples_add(&samples, id)
          model[id] = 0
        } else {
          #expect(lrd_samples_find(&samples, id).bucket == nil)
        }
        #expect(Int(samples.held) == model.count)
        if step % 5_000 == 4_999 {
          lrd_samples_clear(&samples)
          model = [:]
        }
      }
    }
  }

  @Test(
    "Where the buckets hold all they may, a sample is left out and the others stay",
    arguments: [1, 3])
  func allBucketsAreFull(buckets: UInt32) {
    Self.withSamples(buckets: buckets) { samples in
      let room = lrd_samples_most(&samples)
      for _ in 0..<3 {
        for id in 0..<room + 5 { lrd_samples_add(&samples, id) }
        for id in 0..<room { #expect(lrd_samples_find(&samples, id).bucket != nil) }
        for id in room..<room + 5 { #expect(lrd_samples_find(&samples, id).bucket == nil) }
        for id in 0..<room + 5 { lrd_samples_remove(&samples, id) }
        #expect(samples.held == 0)
        for index in 0..<Int(buckets) { #expect(samples.buckets?[index].passed == 0) }
      }
    }
  }

  /// The ids in the next bucket.
  private static func next(_ samples: inout lrd_samples) -> [UInt32] {
    guard let bucket = lrd_samples_next(&samples) else { return [] }
    return withUnsafeBytes(of: bucket.pointee.id) { bytes in
      bytes.bindMemory(to: UInt32.self).filter { $0 != 0 }.map { $0 - 1 }
    }
  }

  @Test("A round of polls comes by every sample once")
  func everySampleHasItsTurn() {
    let count = lrd_samples_buckets(50)
    Self.withSamples(buckets: count) { samples in
      for id in 0..<UInt32(30) { lrd_samples_add(&samples, id) }
      for _ in 0..<3 {
        let seen = (0..<count).flatMap { _ in Self.next(&samples) }
        #expect(seen.sorted() == Array(0..<30))
      }
      lrd_samples_clear(&samples)
      for _ in 0..<20 { #expect(lrd_samples_next(&samples) == nil) }
    }
  }
}
