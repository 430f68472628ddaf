// SPDX-License-Identifier: Apache-2.0
// Thumbnails for a gallery, in at most four megabytes. Each costs its bytes, so a few large ones
// count as much as many small ones.
//
//     swift run --package-path Examples thumbnails
import Larder

struct Thumbnail: Sendable {
  let width: Int, height: Int
  let pixels: [UInt8]
}

/// What a thumbnail is known by. Different sizes of a picture are different thumbnails.
struct Request: Hashable, Sendable {
  let picture: Int
  let width: Int
}

/// Stands for a decoder: what the cache saves.
func render(_ request: Request) -> Thumbnail {
  let height = request.width * 3 / 4
  let shade = UInt8(truncatingIfNeeded: request.picture)
  let pixels = [UInt8](repeating: shade, count: request.width * height * 4)
  return Thumbnail(width: request.width, height: height, pixels: pixels)
}

let thumbnails = Cache<Request, Thumbnail>(
  totalCostLimit: 4 << 20, name: "thumbnails", cost: { _, thumbnail in thumbnail.pixels.count })

func thumbnail(_ request: Request) -> Thumbnail {
  if let thumbnail = thumbnails[request] { return thumbnail }
  let thumbnail = render(request)
  thumbnails[request] = thumbnail
  return thumbnail
}

// People look at the newest pictures most, and some scroll back.
var shown = 0
for visitor in 0..<2_000 {
  for step in 0..<4 {
    let picture = visitor / 10 + step * step * (visitor % 7)
    let request = Request(picture: picture, width: step == 0 ? 160 : 64)
    shown += thumbnail(request).pixels.count
  }
}
let statistics = thumbnails.statistics
print("\(shown >> 20) MB shown, \(statistics.misses * 100 / 8_000) of 100 thumbnails rendered")
print("\(thumbnails.count) kept: \(thumbnails.totalCost >> 10) of 4096 KB")
