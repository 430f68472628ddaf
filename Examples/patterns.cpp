// SPDX-License-Identifier: Apache-2.0
/* patterns.cpp — says which of the given lines match which regular expressions. Compiling an
 * expression is slow and matching is fast, so it caches compiled ones. C++17 manages their lives.
 *
 *     c++ -std=c++17 patterns.cpp $(pkg-config --cflags --libs larder) -o patterns
 *     printf '%s\n' '^a+b' aab '^a+b' ba | ./patterns        expression, line, expression, line */
#include <cstring>
#include <functional>
#include <iostream>
#include <larder.h>
#include <memory>
#include <regex>
#include <stdexcept>
#include <string>
#include <string_view>

class Patterns {
  struct Close {
    void operator()(larder_cache *cache) const { larder_destroy(cache); }
  };
  std::unique_ptr<larder_cache, Close> cache;

public:
  struct Release {
    void operator()(larder_value *value) const { larder_value_release(value); }
  };
  using Held = std::unique_ptr<larder_value, Release>;

  explicit Patterns(uint64_t most) {
    larder_config config = LARDER_CONFIG_INIT;
    config.count_limit = most;
    config.mode = LARDER_OBJECTS;
    config.hash = [](void *, const void *key, uint64_t size) -> uint64_t {
      return std::hash<std::string_view>()({static_cast<const char *>(key), size});
    };
    config.equal = [](void *, const void *a, uint64_t as, const void *b, uint64_t bs) -> int32_t {
      return as == bs && std::memcmp(a, b, as) == 0;
    };
    config.key_retain = [](void *, const void *key, uint64_t size, const void **kept) -> int32_t {
      *kept = std::memcpy(new char[size], key, size);
      return 0;
    };
    config.key_release = [](void *, const void *key, uint64_t) {
      delete[] static_cast<const char *>(key);
    };
    config.value_release = [](void *, const void *value, uint64_t) {
      delete static_cast<const std::regex *>(value);
    };
    larder_cache *made = nullptr;
    if (larder_create(&config, &made) < 0) throw std::bad_alloc();
    cache.reset(made);
  }

  bool matches(const std::string &pattern, const std::string &line) {
    larder_value *value = nullptr;
    if (larder_get(cache.get(), pattern.data(), pattern.size(), &value) == LARDER_OK) {
      Held held(value); // stays compiled while it is used, even if evicted meanwhile
      const void *data = nullptr;
      larder_value_data(value, &data, nullptr);
      return std::regex_search(line, *static_cast<const std::regex *>(data));
    }
    auto compiled = std::make_unique<std::regex>(pattern);
    bool found = std::regex_search(line, *compiled);
    // Unless the call fails, the cache owns the value from here on.
    if (larder_set(cache.get(), pattern.data(), pattern.size(), compiled.get(), 0,
                   LARDER_COST_DEFAULT, nullptr) >= 0) {
      compiled.release();
    }
    return found;
  }
};

int main() {
  Patterns patterns(100);
  for (std::string pattern, line; getline(std::cin, pattern) && getline(std::cin, line);) {
    std::cout << pattern << (patterns.matches(pattern, line) ? " matches " : " does not match ")
              << line << '\n';
  }
}
