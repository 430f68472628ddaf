// SPDX-License-Identifier: Apache-2.0
// Intel TBB's concurrent_lru_cache, a preview feature. Its users give it a function that makes the
// missing value, and hold a handle while they use one: a lookup and a read-through are the same
// call, and there is no way to replace a value.
#define TBB_PREVIEW_CONCURRENT_LRU_CACHE 1
#include <oneapi/tbb/concurrent_lru_cache.h>

#include "rival.hpp"

/// Set by the function that makes a missing value, on the thread that asked.
static thread_local bool missed;

/// The value that this thread wants stored, for the function to take; null: it makes one.
template <class Stored>
static thread_local Stored *prepared;

template <class Key, class Value>
class TBBCache {
 public:
  struct Thread {};

  explicit TBBCache(size_t capacity) : cache_(make, capacity) {}

  bool read(const Key &key, uint64_t *number) {
    missed = false;
    auto handle = cache_[key];
    if constexpr (std::is_same_v<Value, uint64_t>) *number = handle.value();
    else *number = handle.value()->number;
    return !missed;
  }
  bool get_or_put(const Key &key, uint64_t, uint64_t *number) { return read(key, number); }

  using Stored =
      std::conditional_t<std::is_same_v<Value, uint64_t>, uint64_t, std::shared_ptr<Value>>;

  static Stored made(uint64_t number) {
    if constexpr (std::is_same_v<Value, uint64_t>) return number;
    else return std::make_shared<Value>(number);
  }

  void put(const Key &key, Stored value) {
    uint64_t number;
    prepared<Stored> = &value;
    read(key, &number);
    prepared<Stored> = nullptr;
  }

 private:
  static Stored make(Key) {
    missed = true;
    return prepared<Stored> ? std::move(*prepared<Stored>) : made(1);
  }

  tbb::concurrent_lru_cache<Key, Stored, Stored (*)(Key)> cache_;
};

int main(int count, char **arguments) { return rival_main<TBBCache>(count, arguments); }
