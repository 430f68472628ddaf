// SPDX-License-Identifier: Apache-2.0
import CBench
import Larder

// Loops over ways to read that only Larder has. They do the work of `hitLoop` (Loops.swift).

/// Lends every value to a closure instead of taking a copy.
@inline(never)
func lendingLoop<Value: Measurable>(_ cache: Cache<UInt64, Value>, _ keys: ArraySlice<UInt64>) {
  var sum: UInt64 = 0
  for key in keys {
    if let number = cache.withValue(forKey: key, { $0.number }) { sum &+= number }
  }
  lb_consume(sum)
}

/// Looks up whole batches, with the array of results that this makes.
@inline(never)
func batchLoop<Value: Measurable>(
  _ cache: Cache<UInt64, Value>, _ batches: ArraySlice<[UInt64]>
) {
  var sum: UInt64 = 0
  for batch in batches {
    for value in cache.values(forKeys: batch) {
      if let value { sum &+= value.number }
    }
  }
  lb_consume(sum)
}
