// SPDX-License-Identifier: Apache-2.0
// The frame of a rival written in C or C++: keys, values, settings, and the commands of the parent,
// as README.md beside this file describes them. A rival is a class template over Key and Value:
//
//     Rival(size_t capacity);
//     bool read(const Key &, uint64_t *number);     a lookup as its users do it; false on a miss
//     bool get_or_put(const Key &, uint64_t fresh, uint64_t *number);    false when it was put
//     static Stored made(uint64_t number);           a value, as the rival keeps it
//     void put(const Key &, Stored value);
//     struct Thread;                                 held by every thread that uses a rival
#pragma once

#include "histogram.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <thread>

struct Payload {
  uint64_t number, rest[7];
  explicit Payload(uint64_t n) : number(n) { std::fill(rest, rest + 7, n); }
};

inline uint64_t scattered(uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB;
  return bits ^ (bits >> 31);
}

template <class Key>
Key make_key(uint64_t number);
template <>
inline uint64_t make_key(uint64_t number) {
  return number;
}
template <>
inline std::string make_key(uint64_t number) {
  char text[24];
  snprintf(text, sizeof text, "user:0%016llx", (unsigned long long)number);
  return text;
}

[[noreturn]] inline void fail(const std::string &why) {
  fprintf(stderr, "%s\n", why.c_str());
  exit(1);
}

struct Settings {
  std::map<std::string, std::string> words;
  Settings(int count, char **arguments) {
    for (int i = 2; i < count; i++) {
      std::string word = arguments[i];
      size_t at = word.find('=');
      if (at == std::string::npos) fail("cannot read " + word);
      words[word.substr(0, at)] = word.substr(at + 1);
    }
  }
  std::string text(const std::string &name) const {
    auto found = words.find(name);
    return found == words.end() ? "" : found->second;
  }
  size_t number(const std::string &name) const { return strtoull(text(name).c_str(), nullptr, 10); }
};

template <class Key>
std::vector<Key> read_keys(const std::string &path) {
  if (path.empty()) return {};
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat about;
  if (file < 0 || fstat(file, &about) != 0) fail(path + " cannot be read");
  size_t count = (size_t)about.st_size / 8;
  if (!count) return {};
  void *map = mmap(nullptr, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
  if (map == MAP_FAILED) fail(path + " cannot be mapped");
  auto numbers = static_cast<const uint64_t *>(map);
  std::vector<Key> keys;
  keys.reserve(count);
  for (size_t i = 0; i < count; i++) keys.push_back(make_key<Key>(numbers[i]));
  munmap(map, (size_t)about.st_size);
  return keys;
}

struct Tally {
  uint64_t hits = 0, sum = 0;
};

enum class Operation { get, read_through, mixed, put };

template <Operation operation, class Rival, class Key>
inline void step(Rival &rival, const std::vector<Key> &keys, size_t i, Tally &tally) {
  uint64_t number = 0;
  if constexpr (operation == Operation::get) {
    if (rival.read(keys[i], &number)) tally.hits++;
  } else if constexpr (operation == Operation::read_through) {
    if (rival.get_or_put(keys[i], i, &number)) tally.hits++;
  } else if constexpr (operation == Operation::mixed) {
    if ((scattered(i) & 3) == 0) {
      rival.put(keys[i], Rival::made(i));
      tally.hits++;
    } else if (rival.read(keys[i], &number)) {
      tally.hits++;
    }
  } else {
    rival.put(keys[i], Rival::made(i));
  }
  tally.sum += number;
}

/// What one thread has to do: the next request that nobody has taken, or every `stride`-th.
struct Share {
  std::atomic<size_t> *queue; // null: the latter
  size_t own, stride, end;

  bool next(size_t &request) {
    request = queue ? queue->fetch_add(1, std::memory_order_relaxed) : own;
    own += stride;
    return request < end;
  }
};

template <class Rival, class Key>
class Bench {
 public:
  explicit Bench(const Settings &settings)
      : settings_(settings), threads_(std::max<size_t>(1, settings.number("threads"))),
        keys_(read_keys<Key>(settings.text("stream"))) {
    if (settings.text("fresh") == "1" || settings.text("operation").empty()) return;
    kept_ = std::make_unique<Rival>(settings.number("capacity"));
    for (const Key &key : read_keys<Key>(settings.text("fill"))) kept_->put(key, Rival::made(1));
  }

  template <Operation operation>
  void run(size_t first, size_t count, size_t lead, bool timed, double rate) {
    std::unique_ptr<Rival> fresh;
    if (!kept_) fresh = std::make_unique<Rival>(settings_.number("capacity"));
    Rival &rival = kept_ ? *kept_ : *fresh;
    double interval = rate > 0 ? clock_->ticks(1e9 / rate * double(threads_)) : 0;
    struct Part {
      Tally tally;
      Histogram histogram;
      uint64_t start, end, cpu;
    };
    std::vector<Part> parts(threads_);
    // What is made anew replays a trace, whose order matters: threads then take turns.
    std::atomic<size_t> next_lead = first, next_timed = first + lead;
    bool in_order = !kept_ && threads_ > 1;
    std::barrier gate((ptrdiff_t)threads_);
    std::vector<std::thread> team;
    for (size_t t = 0; t < threads_; t++)
      team.emplace_back([&, t] {
        typename Rival::Thread registered;
        Part &part = parts[t];
        Tally ignored, tally;
        Histogram histogram;
        Share leads{in_order ? &next_lead : nullptr, first + t, threads_, first + lead};
        for (size_t i; leads.next(i);) step<operation>(rival, keys_, i, ignored);
        gate.arrive_and_wait();
        part.start = lb_clock_ns(CLOCK_MONOTONIC);
        uint64_t cpu = lb_clock_ns(CLOCK_THREAD_CPUTIME_ID);
        Share share{in_order ? &next_timed : nullptr, first + lead + t, threads_,
                    first + lead + count};
        if (!timed) {
          for (size_t i; share.next(i);) step<operation>(rival, keys_, i, tally);
        } else {
          uint64_t origin = lb_ticks_begin();
          double due = 0;
          for (size_t i; share.next(i); due += interval) {
            if (rate > 0) clock_->wait_until(origin + (uint64_t)due);
            uint64_t begin = rate > 0 ? origin + (uint64_t)due : lb_ticks_begin();
            step<operation>(rival, keys_, i, tally);
            histogram.record(lb_ticks_end() - begin);
          }
        }
        lb_consume(tally.sum + ignored.sum);
        part.cpu = lb_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
        part.end = lb_clock_ns(CLOCK_MONOTONIC);
        part.tally = tally;
        part.histogram = histogram;
      });
    for (auto &thread : team) thread.join();
    uint64_t start = UINT64_MAX, end = 0, cpu = 0, hits = 0;
    Histogram histogram;
    for (const Part &part : parts) {
      start = std::min(start, part.start);
      end = std::max(end, part.end);
      cpu += part.cpu;
      hits += part.tally.hits;
      histogram.add(part.histogram);
    }
    std::cout << "{\"operations\":" << count << ",\"wallNs\":" << end - start
              << ",\"cpuNs\":" << cpu << ",\"hits\":" << hits;
    if (timed)
      std::cout << ",\"timerNs\":" << clock_->overhead_ns()
                << ",\"histogram\":" << histogram.json(*clock_);
    std::cout << "}" << std::endl;
  }

  void memory(size_t count) {
    (void)lb_anonymous_bytes(), (void)lb_allocated_bytes();  // the first look allocates
    double resident = (double)lb_anonymous_bytes(), allocated = (double)lb_allocated_bytes();
    Rival rival(settings_.number("capacity"));
    for (size_t i = 0; i < count; i++) rival.put(make_key<Key>(scattered(i)), Rival::made(i));
    std::cout << std::fixed << "{\"residentBytes\":" << (double)lb_anonymous_bytes() - resident
              << ",\"allocatedBytes\":" << (double)lb_allocated_bytes() - allocated << "}"
              << std::endl;
  }

  void growth(double seconds, const std::vector<size_t> &counts) {
    uint64_t deadline = lb_clock_ns(CLOCK_MONOTONIC) + (uint64_t)(seconds * 1e9);
    Rival rival(settings_.number("capacity"));
    std::ostringstream steps;
    std::string note;
    size_t done = 0;
    for (size_t count : counts) {
      Histogram histogram;
      uint64_t cpu = lb_clock_ns(CLOCK_THREAD_CPUTIME_ID);
      double passed = 0; // in the insertions alone
      size_t i = done;
      for (; i < count; i++) {
        Key key = make_key<Key>(scattered(i));
        auto value = Rival::made(i);
        uint64_t begin = lb_ticks_begin();
        rival.put(key, std::move(value));
        uint64_t ticks = lb_ticks_end() - begin;
        histogram.record(ticks);
        passed += clock_->nanoseconds(ticks);
        if (i % 256 == 255 && lb_clock_ns(CLOCK_MONOTONIC) > deadline) break;
      }
      double spent = double(lb_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu);
      double timer = double(i - done) * clock_->overhead_ns();
      if (i < count) {
        note = "gave up after " + std::to_string((int)seconds) + " s at " + std::to_string(i) +
               " entries";
        break;
      }
      steps << (done ? "," : "") << "{\"entries\":" << count << ",\"operations\":" << count - done
            << ",\"wallNs\":" << passed << ",\"cpuNs\":" << spent - timer
            << ",\"histogram\":" << histogram.json(*clock_) << "}";
      done = count;
    }
    std::cout << "{\"timerNs\":" << clock_->overhead_ns() << ",\"steps\":[" << steps.str() << "]";
    if (!note.empty()) std::cout << ",\"note\":\"" << note << "\"";
    std::cout << "}" << std::endl;
  }

  void serve() {
    std::cout << "{}" << std::endl;  // set up, ready
    std::string line;
    while (std::getline(std::cin, line)) {
      std::istringstream words(line);
      std::string command;
      words >> command;
      if (command != "round" && command != "memory" && !clock_)
        clock_ = std::make_unique<TickClock>();
      if (command == "round" || command == "latency") {
        size_t first = 0, count = 0, lead = 0;
        double rate = 0;
        words >> first >> count >> lead >> rate;
        bool timed = command == "latency";
        std::string operation = settings_.text("operation");
        if (operation == "get") run<Operation::get>(first, count, lead, timed, rate);
        else if (operation == "read-through")
          run<Operation::read_through>(first, count, lead, timed, rate);
        else if (operation == "mixed") run<Operation::mixed>(first, count, lead, timed, rate);
        else run<Operation::put>(first, count, lead, timed, rate);
      } else if (command == "memory") {
        size_t count = 0;
        words >> count;
        memory(count);
      } else if (command == "growth") {
        double seconds = 0;
        words >> seconds;
        std::vector<size_t> counts;
        for (size_t count; words >> count;) counts.push_back(count);
        growth(seconds, counts);
      } else {
        fail("cannot " + line);
      }
    }
  }

 private:
  Settings settings_;
  size_t threads_;
  std::vector<Key> keys_;
  std::unique_ptr<Rival> kept_;
  std::unique_ptr<TickClock> clock_;
};

/// The whole program of a rival.
template <template <class, class> class Rival>
int rival_main(int count, char **arguments) {
  Settings settings(count, arguments);
  bool strings = settings.text("keys") == "string", numbers = settings.text("values") == "int";
  using std::string;
  auto serve = [&]<class Key, class Value>() {
    typename Rival<Key, Value>::Thread registered;
    Bench<Rival<Key, Value>, Key>(settings).serve();
  };
  if (strings && numbers) serve.template operator()<string, uint64_t>();
  else if (strings) serve.template operator()<string, Payload>();
  else if (numbers) serve.template operator()<uint64_t, uint64_t>();
  else serve.template operator()<uint64_t, Payload>();
  return 0;
}
