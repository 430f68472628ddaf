// SPDX-License-Identifier: Apache-2.0

import com.github.benmanes.caffeine.cache.AsyncLoadingCache;
import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Expiry;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;

/**
 * Caffeine as its users write it: a maximum size or weight, getIfPresent and put, everything else
 * by default. Where it loads, it is an AsyncLoadingCache, and loads that take time run in a pool of
 * threads. Keys are Long or String, values objects with 64 bytes of payload, or Long.
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

  /** Random lifetimes of an exponential distribution, drawn beforehand. */
  private static final class Lifetimes implements Expiry<Object, Object> {
    private final long[] nanoseconds;
    private final Subject subject;

    Lifetimes(Subject subject, double mean) {
      this.subject = subject;
      Random random = new Random(7);
      nanoseconds = random.doubles(1 << 12, 1e-9, 1)
          .mapToLong(part -> 1 + (long) (-Math.log(part) * mean)).toArray();
    }

    private long of(Object value) {
      return nanoseconds[(int) scattered(subject.number(value)) & (nanoseconds.length - 1)];
    }

    @Override public long expireAfterCreate(Object key, Object value, long now) {
      return of(value);
    }

    @Override public long expireAfterUpdate(Object key, Object value, long now, long left) {
      return of(value);
    }

    @Override public long expireAfterRead(Object key, Object value, long now, long left) {
      return left;
    }
  }

  private final Cache<Object, Object> cache;
  private final AsyncLoadingCache<Object, Object> loading; // null: it does not load
  private final long loadMicros;
  private final ExecutorService pool = Executors.newCachedThreadPool(body -> {
    Thread thread = new Thread(body);
    thread.setDaemon(true);
    return thread;
  });
  private final boolean numbers;
  private final boolean weighted;

  Subject(Map<String, String> settings) {
    numbers = settings.getOrDefault("values", "object").equals("int");
    long costLimit = Long.parseLong(settings.getOrDefault("cost-limit", "0"));
    long capacity = Long.parseLong(settings.getOrDefault("capacity", "0"));
    weighted = costLimit > 0;
    Caffeine<Object, Object> builder = Caffeine.newBuilder();
    loadMicros = Long.parseLong(settings.getOrDefault("load-us", "0"));
    if (settings.containsKey("load-us")) {
      loading = builder.maximumSize(capacity).buildAsync(key -> value(1));
      cache = loading.synchronous();
      return;
    }
    loading = null;
    if (settings.getOrDefault("operation", "").equals("expiring")) {
      double mean = Double.parseDouble(settings.getOrDefault("lifetime", "1e18"));
      cache = builder.maximumSize(capacity).expireAfter(new Lifetimes(this, mean)).build();
    } else if (weighted) {
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
    return number(value);
  }

  /** The number in the value of `key`, or -1 if it had to be loaded. */
  long load(Object key) {
    boolean[] loads = {false};
    Object value = loading.get(key, (missing, executor) -> {
      loads[0] = true;
      if (loadMicros == 0) {
        return CompletableFuture.completedFuture(value(1));
      }
      return CompletableFuture.supplyAsync(() -> {
        LockSupport.parkNanos(loadMicros * 1000);
        return value(1);
      }, pool);
    }).join();
    return loads[0] ? -1 : number(value);
  }

  void put(Object key, long number, int cost) {
    put(key, stored(number, cost));
  }

  /** What `stored` made. */
  void put(Object key, Object stored) {
    cache.put(key, stored);
  }

  /** A value, as the cache holds it. */
  Object stored(long number, int cost) {
    Object value = value(number);
    return weighted ? new Weighted(value, cost) : value;
  }

  private Object value(long number) {
    return numbers ? (Object) Long.valueOf(number) : new Payload(number);
  }

  private long number(Object value) {
    return numbers ? (Long) value : ((Payload) value).number;
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
