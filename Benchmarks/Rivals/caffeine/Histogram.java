// SPDX-License-Identifier: Apache-2.0

/** Nanoseconds of single operations, 128 buckets to a power of two, as larder-bench keeps them. */
final class Histogram {
  private static final int SUB_BITS = 7;
  private static final int GROUPS = 40;

  private final long[] counts = new long[(GROUPS + 1) << SUB_BITS];
  private long total;
  private long maximum;

  void record(long nanoseconds) {
    long time = Math.max(0, nanoseconds);
    counts[index(time)]++;
    total++;
    if (time > maximum) {
      maximum = time;
    }
  }

  void add(Histogram other) {
    for (int i = 0; i < counts.length; i++) {
      counts[i] += other.counts[i];
    }
    total += other.total;
    maximum = Math.max(maximum, other.maximum);
  }

  long median() {
    long seen = 0;
    for (int i = 0; i < counts.length; i++) {
      seen += counts[i];
      if (seen * 2 >= total) {
        return Math.min(upperBound(i), maximum);
      }
    }
    return maximum;
  }

  /** Pairs of nanoseconds, less the timer's own, and how often. */
  String json(long timer) {
    StringBuilder text = new StringBuilder("[");
    for (int i = 0; i < counts.length; i++) {
      if (counts[i] > 0) {
        if (text.length() > 1) {
          text.append(',');
        }
        long time = Math.max(0, Math.min(upperBound(i), maximum) - timer);
        text.append('[').append(time).append(',').append(counts[i]).append(']');
      }
    }
    return text.append(']').toString();
  }

  private static int index(long time) {
    int highest = 63 - Long.numberOfLeadingZeros(time | 1);
    int group = Math.max(0, highest - SUB_BITS);
    long index = ((long) group << SUB_BITS) + (time >> group);
    return (int) Math.min(index, ((long) (GROUPS + 1) << SUB_BITS) - 1);
  }

  private static long upperBound(int index) {
    int group = Math.max(0, (index >> SUB_BITS) - 1);
    return ((long) (index - (group << SUB_BITS) + 1) << group) - 1;
  }
}
