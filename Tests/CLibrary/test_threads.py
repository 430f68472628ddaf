# SPDX-License-Identifier: Apache-2.0
"""Python's threads on one cache: every value is released exactly once, and what is read is whole.

A foreign call lets other threads run, and a callback takes the interpreter back, on whatever thread
the library calls it.
"""
import collections
import ctypes
import itertools
import os
import random
import threading
import time
import unittest

import larder

THREADS, KEYS, LIMIT = 4, 200, 50
STEPS = int(os.environ.get("LARDER_THREAD_STEPS", 20_000))


class Ledger:
    """Counts, for each value, how often it was released. Value n is the pointer n."""

    def __init__(self):
        self.numbers = itertools.count(1)
        self.released = collections.Counter()
        self.lock = threading.Lock()

    def on_release(self, _, value, size):
        with self.lock:
            self.released[value] += 1

    def settled(self, made):
        """Whether all values are released; the background thread may be about to do the last."""
        for _ in range(10_000):
            with self.lock:
                if len(self.released) >= made:
                    break
            time.sleep(0.001)
        with self.lock:
            return len(self.released) == made and set(self.released.values()) == {1}


def run_threads(work):
    faults = []

    def guarded(seed):
        try:
            work(random.Random(seed))
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=guarded, args=(seed,)) for seed in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise faults[0]


class Threads(unittest.TestCase):
    def check_limit(self, cache):
        self.assertLessEqual(larder.asked(larder.get_count, cache), LIMIT)

    def test_objects(self):
        for shards in (1, 4):
            self.objects(shards)

    def objects(self, shards):
        ledger, made = Ledger(), itertools.count()
        cache, config = larder.created(
            mode=larder.OBJECTS,
            count_limit=LIMIT,
            shards=shards,
            hash=larder.Hash(lambda _, key, size: key // 2),
            equal=larder.Equal(lambda _, a, a_size, b, b_size: a == b),
            value_release=larder.Release(ledger.on_release),
        )
        hands = []

        def hold(value):
            number, key = larder.data_of(value)
            self.assertEqual(ledger.released[number], 0)
            hands.append(value)
            if len(hands) > 10:
                self.assertEqual(larder.value_release(hands.pop(0)), larder.OK)

        def work(dice):
            for _ in range(STEPS // 4):
                key, what, value = dice.randrange(1, KEYS), dice.random(), ctypes.c_void_p()
                if what < 0.4:
                    next(made)
                    status = larder.set(cache, key, 0, next(ledger.numbers), key, 1, value)
                    self.assertIn(status, (larder.OK, larder.REPLACED))
                elif what < 0.9:
                    larder.get(cache, key, 0, value)
                elif what < 0.98:
                    larder.remove(cache, key, 0, value)
                else:
                    larder.trim_to_count(cache, LIMIT // 2)
                self.check_limit(cache)
                if value:
                    self.assertEqual(larder.data_of(value)[1], key)
                    hold(value)

        run_threads(work)
        self.assertEqual(larder.reclaim(cache), larder.OK)
        self.assertEqual(larder.destroy(cache), larder.OK)
        for value in hands:
            self.assertEqual(ledger.released[larder.data_of(value)[0]], 0)
            self.assertEqual(larder.value_release(value), larder.OK)
        self.assertTrue(ledger.settled(next(made)))

    def test_bytes(self):
        cache, config = larder.created(count_limit=LIMIT)

        def text(key):
            return f"{key} ".encode() * (1 + key % 9)

        def work(dice):
            buffer, size = ctypes.create_string_buffer(64), ctypes.c_uint64()
            for _ in range(STEPS):
                number = dice.randrange(KEYS)
                key = b"key %d" % number
                if dice.random() < 0.4:
                    larder.set(cache, key, len(key), text(number), len(text(number)), 1, None)
                elif larder.read(cache, key, len(key), buffer, 64, size) == larder.OK:
                    self.assertEqual(buffer.raw[: size.value], text(number))
                self.check_limit(cache)

        run_threads(work)
        statistics = larder.Statistics()
        self.assertEqual(larder.get_statistics(cache, statistics), larder.OK)
        self.assertGreater(statistics.hits, 0)
        self.assertEqual(larder.destroy(cache), larder.OK)


class Deadlines(unittest.TestCase):
    def test_removed_at_its_deadline(self):
        """A lookup goes by a time that may be two milliseconds old. What a call took for expired,
        it must not find."""
        cache, _ = larder.created(after_write=2_000_000)
        value = ctypes.c_void_p()

        def found():
            status = larder.get(cache, b"key", 3, value)
            if status == larder.OK:
                self.assertEqual(larder.value_release(value), larder.OK)
            return status == larder.OK

        for turn in range(400):
            stored = larder.set(cache, b"key", 3, b"1", 1, 0, None)
            self.assertIn(stored, (larder.OK, larder.REPLACED))
            end = time.perf_counter_ns() + 2_000_000 + turn % 30 * 1_000
            while time.perf_counter_ns() < end:
                found()
            if turn % 2:
                larder.remove(cache, b"key", 3, None)
            else:
                larder.set_lifetime(cache, b"key", 3, 0)
            self.assertFalse(found(), turn)
        self.assertEqual(larder.destroy(cache), larder.OK)


if __name__ == "__main__":
    unittest.main()
