// SPDX-License-Identifier: Apache-2.0
// Single operations' times: the tick counter of CBench.h, calibrated, and a log-linear histogram
// with 128 buckets to a power of two. The same as in larder-bench itself (Child/TickClock.swift,
// Child/Histogram.swift), so that rivals are timed alike.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

extern "C" {
#include "CBench.h"
}

class Histogram {
 public:
  void record(uint64_t ticks) {
    counts_[index(ticks)]++;
    total_++;
    maximum_ = std::max(maximum_, ticks);
  }

  void add(const Histogram &other) {
    for (size_t i = 0; i < counts_.size(); i++) counts_[i] += other.counts_[i];
    total_ += other.total_;
    maximum_ = std::max(maximum_, other.maximum_);
  }

  uint64_t median() const {
    uint64_t seen = 0;
    for (size_t i = 0; i < counts_.size(); i++)
      if ((seen += counts_[i]) * 2 >= total_) return std::min(upper_bound(i), maximum_);
    return maximum_;
  }

  /// `[[nanoseconds, count], …]`, buckets that are not empty.
  template <class Clock>
  std::string json(const Clock &clock) const {
    std::string text = "[";
    for (size_t i = 0; i < counts_.size(); i++) {
      if (!counts_[i]) continue;
      char pair[64];
      snprintf(pair, sizeof pair, "%s[%.1f,%llu]", text.size() > 1 ? "," : "",
               clock.nanoseconds(std::min(upper_bound(i), maximum_)),
               (unsigned long long)counts_[i]);
      text += pair;
    }
    return text + "]";
  }

 private:
  static constexpr int sub_bits = 7, groups = 40;

  static size_t index(uint64_t ticks) {
    int highest = 63 - std::countl_zero(ticks | 1);
    int group = std::max(0, highest - sub_bits);
    size_t i = ((size_t)group << sub_bits) + (size_t)(ticks >> group);
    return std::min(i, ((size_t)(groups + 1) << sub_bits) - 1);
  }

  static uint64_t upper_bound(size_t i) {
    size_t group = std::max<ptrdiff_t>(0, (ptrdiff_t)(i >> sub_bits) - 1);
    return ((i - (group << sub_bits) + 1) << group) - 1;
  }

  std::vector<uint64_t> counts_ = std::vector<uint64_t>((size_t)(groups + 1) << sub_bits);
  uint64_t total_ = 0, maximum_ = 0;
};

/// Converts ticks and knows what timing an operation costs by itself.
class TickClock {
 public:
  TickClock() {
    uint64_t start_ticks = lb_ticks_begin(), start = lb_clock_ns(CLOCK_MONOTONIC), end = start;
    while (end - start < 50000000) end = lb_clock_ns(CLOCK_MONOTONIC);
    ns_per_tick_ = double(end - start) / double(lb_ticks_end() - start_ticks);
    Histogram empty;
    for (int i = 0; i < 100000; i++) {
      uint64_t begin = lb_ticks_begin();
      empty.record(lb_ticks_end() - begin);
    }
    overhead_ = empty.median();
  }

  double nanoseconds(uint64_t ticks) const {
    return double(ticks - std::min(ticks, overhead_)) * ns_per_tick_;
  }
  double overhead_ns() const { return double(overhead_) * ns_per_tick_; }
  double ticks(double nanoseconds) const { return nanoseconds / ns_per_tick_; }

  /// Returns once the counter has reached `due`; sleeps through long gaps, spins through others.
  void wait_until(uint64_t due) const {
    for (;;) {
      uint64_t now = lb_ticks_begin();
      if (now >= due) return;
      double left = double(due - now) * ns_per_tick_;
      if (left > 200000) {
        timespec pause = {0, (long)std::min(left - 100000, 5e8)};
        nanosleep(&pause, nullptr);
      }
    }
  }

 private:
  double ns_per_tick_;
  uint64_t overhead_;
};
