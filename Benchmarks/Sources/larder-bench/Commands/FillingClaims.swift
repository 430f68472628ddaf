// SPDX-License-Identifier: Apache-2.0

/// The slowest insertion on the way to ten million entries.
func growthClaims(
  _ results: inout Results, _ method: Method, _ progress: Progress
) throws -> [Claim] {
  let filling = try Filling(
    ["--against", "larder"], "growth", entries: [1_000, 100_000, 10_000_000], options: [])
  let larder = filling.subjects(&results)[0]
  let reply = try filling.growth(of: larder, seconds: 300)
  var all = LatencyCurve()
  for step in reply.steps ?? [] {
    all.add(step.histogram)
    results.rows.append(Growth.describe(step, of: larder.0, filling).row)
  }
  guard reply.note == nil else { throw Trouble("growth of Larder: \(reply.note ?? "")") }
  let bar = 1_000_000.0
  let stalls = Growth.stalls(reply)
  return [
    Claim(
      text: "growth to 10 M entries: slowest single insertion",
      measured: "\(duration(all.maximum)); \(all.count(above: Growth.slow)) above 100 us "
        + "(doing nothing: \(duration(stalls.maximum)); \(stalls.count(above: Growth.slow)))",
      bar: "< 1 ms", ratio: fixed(all.maximum / bar, 3),
      verdict: all.maximum < bar ? .yes : .no)
  ]
}

/// A million integers, and all the memory they take.
func memoryClaims(
  _ results: inout Results, _ method: Method, _ progress: Progress
) throws -> [Claim] {
  let entries = 1_000_000
  let bar = 64.0
  let filling = try Filling(["--against", "larder"], "memory", entries: [entries], options: [])
  let row = try Memory.measure(filling.subjects(&results)[0], entries, filling)
  results.rows.append(row)
  let bytes = row.bytesPerEntry ?? .nan
  return [
    Claim(
      text: "memory per entry, UInt64 -> UInt64, 1 M entries, everything included",
      measured: "\(fixed(bytes, 1)) B resident", bar: "<= \(fixed(bar, 0)) B",
      ratio: fixed(bytes / bar, 3), verdict: bytes <= bar ? .yes : .no)
  ]
}
