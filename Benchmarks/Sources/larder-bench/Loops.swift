// SPDX-License-Identifier: Apache-2.0
import CBench

// The loops inside the clocks. Generic and specialised by the compiler for every rival; values are
// read and summed, the sum is consumed, so that no lookup can be dropped.

/// Looks up every key and expects it to be there.
@inline(never)
func hitLoop<R: Rival>(_ rival: R, _ keys: ArraySlice<UInt64>)
where R.Key == UInt64, R.Value: Measurable {
  var sum: UInt64 = 0
  for key in keys {
    if let value = rival.get(key) { sum &+= value.number }
  }
  lb_consume(sum)
}

/// As ``hitLoop``, one key after the other out of the arrays that batched lookups receive.
@inline(never)
func hitLoop<R: Rival>(_ rival: R, batches: ArraySlice<[UInt64]>)
where R.Key == UInt64, R.Value: Measurable {
  var sum: UInt64 = 0
  for batch in batches {
    for key in batch {
      if let value = rival.get(key) { sum &+= value.number }
    }
  }
  lb_consume(sum)
}

/// Read-through: gets every key, and puts it when it is missing. Returns the number of hits.
@inline(never)
func readThroughLoop<R: Rival>(_ rival: R, _ keys: ArraySlice<UInt64>) -> Int
where R.Key == UInt64, R.Value: Measurable {
  var sum: UInt64 = 0
  var hits = 0
  for key in keys {
    if let value = rival.get(key) {
      sum &+= value.number
      hits += 1
    } else {
      rival.put(R.Value(key), for: key)
    }
  }
  lb_consume(sum)
  return hits
}

/// As ``readThroughLoop``, with each operation's own time; `all` takes requests, `ofHits` hits.
@inline(never)
func timedReadThroughLoop<R: Rival>(
  _ rival: R, _ keys: ArraySlice<UInt64>, all: inout Histogram, ofHits: inout Histogram
) where R.Key == UInt64, R.Value: Measurable {
  var sum: UInt64 = 0
  for key in keys {
    let begin = lb_ticks_begin()
    let value = rival.get(key)
    if let value {
      sum &+= value.number
      let ticks = lb_ticks_end() - begin
      all.record(ticks)
      ofHits.record(ticks)
    } else {
      rival.put(R.Value(key), for: key)
      all.record(lb_ticks_end() - begin)
    }
  }
  lb_consume(sum)
}

/// Inserts keys never seen before, numbered from `first`.
@inline(never)
func churnLoop<R: Rival>(_ rival: R, from first: UInt64, count: Int)
where R.Key == UInt64, R.Value: Measurable {
  for number in first..<first + UInt64(count) {
    rival.put(R.Value(number), for: scattered(number))
  }
}

/// As ``churnLoop``, with each operation's own time.
@inline(never)
func timedChurnLoop<R: Rival>(
  _ rival: R, from first: UInt64, count: Int, into histogram: inout Histogram
) where R.Key == UInt64, R.Value: Measurable {
  for number in first..<first + UInt64(count) {
    let begin = lb_ticks_begin()
    rival.put(R.Value(number), for: scattered(number))
    histogram.record(lb_ticks_end() - begin)
  }
}
