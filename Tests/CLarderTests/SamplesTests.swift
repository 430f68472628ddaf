// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport
import LarderTestSupport
import Testing

@Suite("Sampled entries of a shard")
struct SamplesTests {
  @Test("Samples agree with a dictionary, except for full buckets")
  func samplesAgreeWithADictionary() {
    let count = lrd_samples_buckets(200)
    let buckets = UnsafeMutablePointer<lrd_sample_bucket>.allocate(capacity: Int(count))
    buckets.initialize(repeating: lrd_sample_bucket(), count: Int(count))
    defer { buckets.deallocate() }
    var samples = lrd_samples()
    lrd_samples_open(&samples, buckets, count)
    var model: [UInt32: UInt32] = [:]
    var random = SplitMix64(seed: 3)
    var untracked = 0
    for step in 0..<20_000 {
      let id = UInt32(random.below(400))
      if model[id] == nil && model.count < 200 {
        lrd_samples_add(&samples, id)
        let tracked = lrd_samples_find(&samples, id).bucket != nil
        untracked += tracked ? 0 : 1
        if tracked { model[id] = 0 }
      } else if let heard = model[id] {
        let sample = lrd_samples_find(&samples, id)
        #expect(sample.bucket != nil && lrd_sample_heard(sample) == heard)
        if step % 2 == 0 {
          lrd_sample_set_heard(sample, UInt32(step / 2 % 4))
          model[id] = UInt32(step / 2 % 4)
        } else {
          lrd_samples_remove(&samples, id)
          model[id] = nil
        }
      }
      if step % 5_000 == 4_999 {
        lrd_samples_clear(&samples)
        model = [:]
      }
      for absent in [UInt32(401), 777] { #expect(lrd_samples_find(&samples, absent).bucket == nil) }
    }
    #expect(untracked < 300, "out of some 5,000")
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
    let buckets = UnsafeMutablePointer<lrd_sample_bucket>.allocate(capacity: Int(count))
    buckets.initialize(repeating: lrd_sample_bucket(), count: Int(count))
    defer { buckets.deallocate() }
    var samples = lrd_samples()
    lrd_samples_open(&samples, buckets, count)
    for id in 0..<UInt32(30) { lrd_samples_add(&samples, id) }
    let held = (0..<UInt32(30)).filter { lrd_samples_find(&samples, $0).bucket != nil }
    for _ in 0..<3 {
      let seen = (0..<count).flatMap { _ in Self.next(&samples) }
      #expect(seen.sorted() == held)
    }
    lrd_samples_clear(&samples)
    for _ in 0..<20 { #expect(lrd_samples_next(&samples) == nil) }
  }
}
