// SPDX-License-Identifier: Apache-2.0
import Larder

let cache = Cache<String, Int>(countLimit: 2)
for (number, key) in ["a", "b", "c"].enumerated() { cache[key] = number + 1 }
let found = ["a", "b", "c"].compactMap { key in cache[key].map { "\(key)=\($0)" } }
print("two of three: \(found.joined(separator: " ")), \(cache.statistics.evictions) eviction")
