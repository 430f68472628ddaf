// SPDX-License-Identifier: Apache-2.0

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.util.Map;

/**
 * Caffeine as its users write it: a maximum size or weight, getIfPresent and put, everything else
 * by default. Keys are Long or String, values objects with 64 bytes of payload, or Long.
 */
final class Subject {
  static final class Payload {
    final long number;
    final long a, b, c, d, e, f, g;

    Payload(long number) {
      this.number = a = b = c = d = e = f = g = number;
    }
  }

  /** What a weighted cache holds: the weigher must find the cost in the value. */
  record Weighted(Object value, int cost) {}

  private final Cache<Object, Object> cache;
  private final boolean numbers;
  private final boolean weighted;

  Subject(Map<String, String> settings) {
    numbers = settings.getOrDefault("values", "object").equals("int");
    long costLimit = Long.parseLong(settings.getOrDefault("cost-limit", "0"));
    long capacity = Long.parseLong(settings.getOrDefault("capacity", "0"));
    weighted = costLimit > 0;
    Caffeine<Object, Object> builder = Caffeine.newBuilder();
    if (weighted) {
      cache = builder.maximumWeight(costLimit)
          .weigher((Object key, Object value) -> ((Weighted) value).cost()).build();
    } else {
      cache = builder.maximumSize(capacity).build();
    }
  }

  /** The number in the value of `key`, or -1. */
  long read(Object key) {
    Object value = cache.getIfPresent(key);
    if (value == null) {
      return -1;
    }
    if (weighted) {
      value = ((Weighted) value).value();
    }
    return numbers ? (Long) value : ((Payload) value).number;
  }

  void put(Object key, long number, int cost) {
    Object value = numbers ? (Object) Long.valueOf(number) : new Payload(number);
    cache.put(key, weighted ? new Weighted(value, cost) : value);
  }

  /** Lets the maintenance that is due be done. */
  void settle() {
    cache.cleanUp();
  }

  static Object key(boolean strings, long number) {
    return strings ? String.format("user:0%016x", number) : (Object) Long.valueOf(number);
  }

  static long scattered(long bits) {
    bits = (bits ^ (bits >>> 30)) * 0xBF58476D1CE4E5B9L;
    bits = (bits ^ (bits >>> 27)) * 0x94D049BB133111EBL;
    return bits ^ (bits >>> 31);
  }
}
