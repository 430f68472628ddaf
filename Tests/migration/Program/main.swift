// SPDX-License-Identifier: Apache-2.0
// A program written for Foundation's cache. It prints the same on Linux, where that cache gives up
// the cheapest object, and where the least recently used one goes: costs rise with time.

let images = ImageCache(name: "images", bytes: 10_000, count: 8)

for number in 1...20 {
  let sum = images.checksum(of: "picture \(number)", byteCount: 100 * number)
  print("picture \(number): \(sum)")
}
print((1...20).filter { images.isCached("picture \($0)") })

// A byte limit is met before the other one here.
for number in 30...34 { print(images.checksum(of: "picture \(number)", byteCount: 100 * number)) }
print((1...34).filter { images.isCached("picture \($0)") })

// Pixels that nobody uses may go, and are decoded again.
images.isEvicting = false
images.shrink(["picture 33", "picture 34"])
for number in 33...34 { print(images.checksum(of: "picture \(number)", byteCount: 100 * number)) }

images.forget("picture 33")
print(images.isCached("picture 33"), images.isCached("picture 34"))
images.forgetAll()
print((1...34).contains { images.isCached("picture \($0)") })

for line in images.log { print(line) }
print(images.summary)
