// SPDX-License-Identifier: Apache-2.0

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** Serves the commands of larder-bench with Caffeine; see README.md in the directory above. */
public final class Rival {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static volatile long sink;

  private final Map<String, String> settings;
  private final String operation;
  private final boolean strings;
  private final int threads;
  private final Object[] keys;
  private final int[] costs;
  private final byte[] actions; // 0 looks up, 1 stores, 2 reads through
  private final int[] parts; // where parts of the stream end whose hits count by themselves
  private final boolean costed;
  private final Subject kept;
  private long timer = -1;

  private Rival(Map<String, String> settings) throws IOException {
    this.settings = settings;
    operation = settings.getOrDefault("operation", "");
    strings = settings.getOrDefault("keys", "int").equals("string");
    threads = Integer.parseInt(settings.getOrDefault("threads", "1"));
    costed = Long.parseLong(settings.getOrDefault("cost-limit", "0")) > 0;
    keys = keys(settings.get("stream"));
    costs = costs(settings.get("costs"));
    actions = settings.containsKey("actions")
        ? Files.readAllBytes(Path.of(settings.get("actions"))) : new byte[0];
    parts = parts(settings.get("parts"));
    if (settings.containsKey("fresh") || operation.isEmpty()) {
      kept = null;
    } else {
      kept = new Subject(settings);
      for (Object key : keys(settings.get("fill"))) {
        kept.put(key, 1, 1);
      }
      kept.settle();
    }
  }

  private Object[] keys(String path) throws IOException {
    if (path == null) {
      return new Object[0];
    }
    ByteBuffer bytes = read(path);
    Object[] keys = new Object[bytes.limit() / 8];
    for (int i = 0; i < keys.length; i++) {
      keys[i] = Subject.key(strings, bytes.getLong());
    }
    return keys;
  }

  private static int[] costs(String path) throws IOException {
    if (path == null) {
      return new int[0];
    }
    ByteBuffer bytes = read(path);
    int[] costs = new int[bytes.limit() / 4];
    bytes.asIntBuffer().get(costs);
    return costs;
  }

  private static int[] parts(String path) throws IOException {
    if (path == null) {
      return new int[0];
    }
    ByteBuffer bytes = read(path);
    int[] parts = new int[bytes.limit() / 8];
    for (int i = 0; i < parts.length; i++) {
      parts[i] = (int) bytes.getLong();
    }
    return parts;
  }

  private static ByteBuffer read(String path) throws IOException {
    return ByteBuffer.wrap(Files.readAllBytes(Path.of(path))).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** What one thread did. */
  private static final class Part {
    final Histogram histogram = new Histogram();
    long hits;
    long hitCosts;
    long lookups;
    long sum;
    long start;
    long end;
    long cpu;
  }

  private void step(Subject subject, int i, Part part) {
    Object key = keys[i];
    switch (operation) {
      case "put" -> subject.put(key, i, 1);
      case "mixed" -> {
        if ((Subject.scattered(i) & 3) == 0) {
          subject.put(key, i, 1);
          part.hits++;
        } else {
          get(subject, key, part);
        }
      }
      case "load" -> count(subject.load(key), part);
      case "read-through", "expiring" -> look(subject, i, true, part);
      case "script" -> {
        if (actions[i] == 1) {
          subject.put(key, i, weight(i));
        } else {
          part.lookups++;
          look(subject, i, actions[i] == 2, part);
        }
      }
      default -> get(subject, key, part);
    }
  }

  private void look(Subject subject, int i, boolean stores, Part part) {
    if (!get(subject, keys[i], part)) {
      if (stores) {
        subject.put(keys[i], i, weight(i));
      }
    } else if (costs.length > 0) {
      part.hitCosts += Integer.toUnsignedLong(costs[i]);
    }
  }

  /** Weights are signed, so sizes of 2 GiB and more get the largest one. */
  private int weight(int i) {
    return !costed ? 1 : costs[i] < 0 ? Integer.MAX_VALUE : costs[i];
  }

  private static boolean get(Subject subject, Object key, Part part) {
    return count(subject.read(key), part);
  }

  private static boolean count(long number, Part part) {
    if (number < 0) {
      return false;
    }
    part.sum += number;
    part.hits++;
    return true;
  }

  /** What one thread has to do: the next request that nobody has taken, or every T-th of T. */
  private final class Share {
    private final AtomicInteger queue; // null: the latter
    private final int end;
    private int own;

    Share(AtomicInteger queue, int own, int end) {
      this.queue = queue;
      this.own = own;
      this.end = end;
    }

    /** A request, or -1 when there is none left. */
    int next() {
      int request = queue != null ? queue.getAndIncrement() : own;
      own += threads;
      return request < end ? request : -1;
    }
  }

  private void work(Subject subject, Share share, boolean timed, double interval, Part part) {
    if (!timed) {
      for (int i; (i = share.next()) >= 0; ) {
        step(subject, i, part);
      }
      return;
    }
    long origin = System.nanoTime();
    double due = 0;
    for (int i; (i = share.next()) >= 0; ) {
      long begin;
      if (interval > 0) {
        begin = origin + (long) due;
        for (long left; (left = begin - System.nanoTime()) > 0; ) {
          if (left > 200_000) {
            LockSupport.parkNanos(left - 100_000);
          }
        }
      } else {
        begin = System.nanoTime();
      }
      step(subject, i, part);
      part.histogram.record(System.nanoTime() - begin);
      due += interval;
    }
  }

  /** The whole stream; between two parts all threads wait, and the cache settles. */
  private String runByParts() throws Exception {
    Subject subject = new Subject(settings);
    AtomicInteger[] queues = new AtomicInteger[parts.length];
    for (int p = 0; p < parts.length; p++) {
      queues[p] = new AtomicInteger(p == 0 ? 0 : parts[p - 1]);
    }
    Part[][] counts = new Part[threads][parts.length];
    CyclicBarrier gate = new CyclicBarrier(threads, subject::settle);
    Thread[] team = new Thread[threads];
    long start = System.nanoTime();
    for (int t = 0; t < threads; t++) {
      Part[] own = counts[t];
      team[t] = new Thread(() -> {
        try {
          for (int p = 0; p < parts.length; p++) {
            own[p] = new Part();
            long cpu = THREADS.getCurrentThreadCpuTime();
            work(subject, new Share(queues[p], 0, parts[p]), false, 0, own[p]);
            own[p].cpu = THREADS.getCurrentThreadCpuTime() - cpu;
            gate.await();
          }
        } catch (Exception error) {
          error.printStackTrace();
          System.exit(1);
        }
      });
      team[t].start();
    }
    for (Thread thread : team) {
      thread.join();
    }
    long wall = System.nanoTime() - start;
    Part all = new Part();
    long[] hits = new long[parts.length];
    for (Part[] own : counts) {
      for (int p = 0; p < parts.length; p++) {
        hits[p] += own[p].hits;
        all.hits += own[p].hits;
        all.lookups += own[p].lookups;
        all.cpu += own[p].cpu;
        sink = own[p].sum;
      }
    }
    return "{\"operations\":" + keys.length + ",\"wallNs\":" + wall + ",\"cpuNs\":" + all.cpu
        + ",\"hits\":" + all.hits + ",\"lookups\":" + all.lookups + ",\"partHits\":"
        + Arrays.toString(hits) + "}";
  }

  private String run(int first, int count, int lead, boolean timed, double rate) throws Exception {
    Subject subject = kept != null ? kept : new Subject(settings);
    double interval = rate > 0 ? 1e9 / rate * threads : 0;
    // What is made anew replays a trace, whose order matters: threads then take turns.
    boolean inOrder = kept == null && threads > 1;
    AtomicInteger leads = inOrder ? new AtomicInteger(first) : null;
    AtomicInteger timedOnes = inOrder ? new AtomicInteger(first + lead) : null;
    Part[] parts = new Part[threads];
    CyclicBarrier gate = new CyclicBarrier(threads);
    Thread[] team = new Thread[threads];
    for (int t = 0; t < threads; t++) {
      int thread = t;
      Part part = parts[t] = new Part();
      team[t] = new Thread(() -> {
        try {
          work(subject, new Share(leads, first + thread, first + lead), false, 0, new Part());
          gate.await();
          part.start = System.nanoTime();
          long cpu = THREADS.getCurrentThreadCpuTime();
          Share share = new Share(timedOnes, first + lead + thread, first + lead + count);
          work(subject, share, timed, interval, part);
          part.cpu = THREADS.getCurrentThreadCpuTime() - cpu;
          part.end = System.nanoTime();
        } catch (Exception error) {
          error.printStackTrace();
          System.exit(1);
        }
      });
      team[t].start();
    }
    for (Thread thread : team) {
      thread.join();
    }
    Part all = new Part();
    all.start = Arrays.stream(parts).mapToLong(part -> part.start).min().getAsLong();
    all.end = Arrays.stream(parts).mapToLong(part -> part.end).max().getAsLong();
    for (Part part : parts) {
      all.hits += part.hits;
      all.hitCosts += part.hitCosts;
      all.lookups += part.lookups;
      all.cpu += part.cpu;
      all.histogram.add(part.histogram);
      sink = part.sum;
    }
    String more = actions.length > 0 ? ",\"lookups\":" + all.lookups : "";
    more += timed
        ? ",\"timerNs\":" + timer() + ",\"histogram\":" + all.histogram.json(timer()) : "";
    return "{\"operations\":" + count + ",\"wallNs\":" + (all.end - all.start) + ",\"cpuNs\":"
        + all.cpu + ",\"hits\":" + all.hits + ",\"hitCosts\":" + all.hitCosts + more + "}";
  }

  /** What two looks at the clock cost with nothing in between. */
  private long timer() {
    if (timer < 0) {
      Histogram empty = new Histogram();
      for (int i = 0; i < 200_000; i++) {
        long begin = System.nanoTime();
        empty.record(System.nanoTime() - begin);
      }
      timer = empty.median();
    }
    return timer;
  }

  private String memory(int count) throws Exception {
    Runtime runtime = Runtime.getRuntime();
    System.gc();
    double resident = residentBytes();
    double used = runtime.totalMemory() - runtime.freeMemory();
    Subject subject = new Subject(settings);
    for (int i = 0; i < count; i++) {
      subject.put(Subject.key(strings, Subject.scattered(i)), i, 1);
    }
    subject.settle();
    System.gc();
    double usedNow = runtime.totalMemory() - runtime.freeMemory();
    double residentNow = residentBytes();
    sink = subject.read(Subject.key(strings, Subject.scattered(0)));
    return "{\"residentBytes\":" + (residentNow - resident) + ",\"allocatedBytes\":"
        + (usedNow - used) + "}";
  }

  private static double residentBytes() throws IOException {
    return Files.readAllLines(Path.of("/proc/self/smaps_rollup")).stream()
        .filter(line -> line.startsWith("Anonymous:"))
        .mapToDouble(line -> 1024 * Double.parseDouble(line.split("\\s+")[1])).sum();
  }

  private String growth(double seconds, int[] counts) {
    long deadline = System.nanoTime() + (long) (seconds * 1e9);
    timer();
    Subject subject = new Subject(settings);
    StringBuilder steps = new StringBuilder();
    int done = 0;
    for (int count : counts) {
      Histogram histogram = new Histogram();
      long wall = 0; // of the insertions alone
      long cpu = THREADS.getCurrentThreadCpuTime();
      int i = done;
      for (; i < count; i++) {
        Object key = Subject.key(strings, Subject.scattered(i));
        Object value = subject.stored(i, 1);
        long begin = System.nanoTime();
        subject.put(key, value);
        long time = System.nanoTime() - begin;
        histogram.record(time);
        wall += Math.max(0, time - timer());
        if (i % 256 == 255 && System.nanoTime() > deadline) {
          return "{\"timerNs\":" + timer() + ",\"steps\":[" + steps + "],\"note\":\"gave up after "
              + (int) seconds + " s at " + i + " entries\"}";
        }
      }
      long own = (count - done) * timer();
      steps.append(done == 0 ? "" : ",").append("{\"entries\":").append(count)
          .append(",\"operations\":").append(count - done)
          .append(",\"wallNs\":").append(wall)
          .append(",\"cpuNs\":").append(THREADS.getCurrentThreadCpuTime() - cpu - own)
          .append(",\"histogram\":").append(histogram.json(timer())).append("}");
      done = count;
    }
    return "{\"timerNs\":" + timer() + ",\"steps\":[" + steps + "]}";
  }

  private String perform(String[] words) throws Exception {
    return switch (words[0]) {
      case "round", "latency" -> parts.length > 0 ? runByParts() : run(Integer.parseInt(words[1]), Integer.parseInt(words[2]),
          Integer.parseInt(words[3]), words[0].equals("latency"),
          words.length > 4 ? Double.parseDouble(words[4]) : 0);
      case "lifetime" -> {
        settings.put("lifetime", words[1]);
        yield "{}";
      }
      case "memory" -> memory(Integer.parseInt(words[1]));
      case "growth" -> growth(Double.parseDouble(words[1]),
          Arrays.stream(words).skip(2).mapToInt(Integer::parseInt).toArray());
      default -> throw new IllegalArgumentException(words[0]);
    };
  }

  public static void main(String[] words) throws Exception {
    Map<String, String> settings = new HashMap<>();
    for (String word : Arrays.copyOfRange(words, 1, words.length)) {
      settings.put(word.substring(0, word.indexOf('=')), word.substring(word.indexOf('=') + 1));
    }
    Rival rival = new Rival(settings);
    System.out.println("{}");
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
    for (String line; (line = input.readLine()) != null; ) {
      System.out.println(rival.perform(line.trim().split(" +")));
    }
    System.exit(0);
  }
}
