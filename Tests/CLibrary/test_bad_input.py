# SPDX-License-Identifier: Apache-2.0
"""Every argument that larder.h calls wrong gets its status, and nothing changes."""
import ctypes
import unittest
from ctypes import byref, c_char, c_uint64, c_void_p

import larder
from larder import Config

MOST = 2**64 - 1
UNTOUCHED = 0xABCD


def created(config):
    """The status of a creation; what was created is destroyed."""
    cache = c_void_p(UNTOUCHED)
    status = larder.create(config, cache)
    assert (cache.value is None) == (status != larder.OK)
    if cache:
        assert larder.destroy(cache) == larder.OK
    return status


class Creation(unittest.TestCase):
    def test_null(self):
        self.assertEqual(larder.create(None, c_void_p()), larder.BAD_ARGUMENT)
        self.assertEqual(larder.create(Config(), None), larder.BAD_ARGUMENT)

    def test_size(self):
        size = ctypes.sizeof(Config)
        for wrong in (0, 1, 8, size // 2, size - 1, 2**40, MOST):
            config = Config()
            config.size = wrong
            self.assertEqual(created(config), larder.BAD_SIZE, wrong)

    def test_later_structure(self):
        class Later(ctypes.Structure):
            _fields_ = [("config", Config), ("more", c_uint64)]

        for more, expected in ((0, larder.OK), (1, larder.UNSUPPORTED)):
            later = Later(Config(), more)
            later.config.size = ctypes.sizeof(Later)
            self.assertEqual(created(later.config), expected)

    def test_limits(self):
        for limit in (larder.LIMIT_MOST + 1, MOST):
            self.assertEqual(created(Config(count_limit=limit)), larder.OUT_OF_RANGE)
            self.assertEqual(created(Config(cost_limit=limit)), larder.OUT_OF_RANGE)
        most = larder.LIMIT_MOST
        self.assertEqual(created(Config(count_limit=most, cost_limit=most)), larder.OK)

    def test_shards(self):
        for shards in (larder.SHARDS_MOST + 1, 2**32 - 1):
            self.assertEqual(created(Config(shards=shards)), larder.OUT_OF_RANGE)
        for shards in (0, 1, 3, larder.SHARDS_MOST):
            self.assertEqual(created(Config(shards=shards)), larder.OK)

    def test_numbers_without_meaning(self):
        for fields in (dict(policy=1000), dict(policy=2**32 - 1), dict(mode=2), dict(reserved=1)):
            self.assertEqual(created(Config(**fields)), larder.UNSUPPORTED, fields)
        for policy in range(20):
            config = Config(policy=policy, cost_limit=1)
            self.assertEqual(created(config), larder.supports_policy(policy))
        for policy in (10, 11):
            self.assertEqual(created(Config(policy=policy)), larder.BAD_ARGUMENT)
        self.assertEqual(larder.supports_policy(1), larder.OK)

    def test_callbacks_and_modes(self):
        hash_, equal = larder.Hash(lambda *_: 0), larder.Equal(lambda *_: 1)
        release = larder.Release(lambda *_: None)
        for callback in (dict(hash=hash_), dict(equal=equal), dict(value_release=release)):
            self.assertEqual(created(Config(**callback)), larder.WRONG_MODE)
            if callback.keys() != {"value_release"}:
                config = Config(mode=larder.OBJECTS, **callback)
                self.assertEqual(created(config), larder.BAD_ARGUMENT)
        config = Config(mode=larder.OBJECTS, hash=hash_, equal=equal)
        self.assertEqual(created(config), larder.OK)

    def test_key_retain_fails(self):
        cache, config = larder.created(
            mode=larder.OBJECTS,
            hash=larder.Hash(lambda *_: 0),
            equal=larder.Equal(lambda *_: 1),
            key_retain=larder.KeyRetain(lambda *_: 1),
        )
        self.assertEqual(larder.set(cache, 1, 1, 1, 1, 0, None), larder.CALLBACK_FAILED)
        self.assertEqual(larder.asked(larder.get_count, cache), 0)
        self.assertEqual(larder.read(cache, 1, 1, None, 0, None), larder.WRONG_MODE)
        self.assertEqual(larder.destroy(cache), larder.OK)


class Calls(unittest.TestCase):
    def setUp(self):
        self.cache, self.config = larder.created()
        self.assertEqual(larder.set(self.cache, b"a", 1, b"old", 3, 5, None), larder.OK)

    def tearDown(self):
        """All that was wrong has changed nothing."""
        statistics = larder.Statistics()
        self.assertEqual(larder.get_statistics(self.cache, statistics), larder.OK)
        self.assertEqual((statistics.insertions, statistics.replacements), (1, 0))
        self.assertEqual((statistics.hits, statistics.misses, statistics.removals), (0, 0, 0))
        self.assertEqual(larder.asked(larder.get_count, self.cache), 1)
        self.assertEqual(larder.asked(larder.get_cost, self.cache), 5)
        self.assertEqual(larder.asked(larder.get_count_limit, self.cache), 0)
        self.assertEqual(larder.destroy(self.cache), larder.OK)

    def keyed(self, cache, key, size, expected):
        value, number = c_void_p(UNTOUCHED), c_uint64(7)
        buffer = (c_char * 8)(*b"unread")
        store = (cache, key, size, b"new", 3, 1, value)
        for call in (larder.get, larder.peek, larder.remove):
            self.assertEqual(call(cache, key, size, value), expected, call)
        self.assertEqual(larder.contains(cache, key, size), expected)
        self.assertEqual(larder.read(cache, key, size, buffer, 8, number), expected)
        self.assertEqual(larder.set(*store), expected)
        self.assertEqual(larder.replace(*store), expected)
        self.assertEqual((value.value, number.value, buffer.value), (UNTOUCHED, 7, b"unread"))

    def whole(self, cache, expected):
        visit = larder.Visit(lambda *_: self.fail("visited"))
        calls = [
            larder.remove_all(cache),
            larder.trim_to_count(cache, 0),
            larder.trim_to_cost(cache, 0),
            larder.set_count_limit(cache, 1),
            larder.set_cost_limit(cache, 1),
            larder.get_count(cache, c_uint64()),
            larder.get_cost(cache, c_uint64()),
            larder.get_count_limit(cache, c_uint64()),
            larder.get_cost_limit(cache, c_uint64()),
            larder.get_statistics(cache, larder.Statistics()),
            larder.iterate(cache, 0, visit, None),
            larder.reclaim(cache),
            larder.destroy(cache),
        ]
        self.assertEqual(set(calls), {expected})

    def test_no_cache(self):
        self.keyed(None, b"a", 1, larder.BAD_ARGUMENT)
        self.whole(None, larder.BAD_ARGUMENT)
        other = ctypes.create_string_buffer(1024)
        self.keyed(byref(other), b"a", 1, larder.FOREIGN)
        self.whole(byref(other), larder.FOREIGN)

    def test_no_key(self):
        self.keyed(self.cache, None, 0, larder.BAD_ARGUMENT)
        self.keyed(self.cache, None, 3, larder.BAD_ARGUMENT)

    def test_long_keys(self):
        for size in (larder.KEY_MOST + 1, 2**32, 2**32 + 1, MOST):
            self.keyed(self.cache, b"a", size, larder.TOO_LONG)

    def test_longest_key(self):
        key = b"k" * larder.KEY_MOST
        cache, config = larder.created()
        self.assertEqual(larder.set(cache, key, len(key), b"v", 1, 0, None), larder.OK)
        self.assertEqual(larder.contains(cache, key, len(key)), larder.OK)
        self.assertEqual(larder.destroy(cache), larder.OK)

    def test_outputs(self):
        cache = self.cache
        self.assertEqual(larder.get(cache, b"a", 1, None), larder.BAD_ARGUMENT)
        self.assertEqual(larder.peek(cache, b"a", 1, None), larder.BAD_ARGUMENT)
        self.assertEqual(larder.read(cache, b"a", 1, None, 1, None), larder.BAD_ARGUMENT)
        for call in (larder.get_count, larder.get_cost, larder.get_count_limit):
            self.assertEqual(call(cache, None), larder.BAD_ARGUMENT)
        self.assertEqual(larder.get_cost_limit(cache, None), larder.BAD_ARGUMENT)
        self.assertEqual(larder.get_statistics(cache, None), larder.BAD_ARGUMENT)
        for size in (0, ctypes.sizeof(larder.Statistics) - 1, 2**40, MOST):
            statistics = larder.Statistics()
            statistics.size = size
            self.assertEqual(larder.get_statistics(cache, statistics), larder.BAD_SIZE)

    def test_values(self):
        cache = self.cache
        self.assertEqual(larder.set(cache, b"a", 1, None, 1, 0, None), larder.BAD_ARGUMENT)
        for size in (larder.VALUE_MOST + 1, MOST):
            self.assertEqual(larder.set(cache, b"a", 1, b"v", size, 0, None), larder.TOO_LONG)
        for call in (larder.value_data, larder.value_key):
            self.assertEqual(call(None, None, None), larder.BAD_ARGUMENT)
        self.assertEqual(larder.value_cost(None, c_uint64()), larder.BAD_ARGUMENT)
        self.assertEqual(larder.value_retain(None), larder.BAD_ARGUMENT)
        self.assertEqual(larder.value_release(None), larder.BAD_ARGUMENT)

    def test_ranges(self):
        cache = self.cache
        for cost in (larder.LIMIT_MOST + 1, MOST - 1):
            self.assertEqual(larder.set(cache, b"a", 1, b"v", 1, cost, None), larder.OUT_OF_RANGE)
        for limit in (larder.LIMIT_MOST + 1, MOST):
            self.assertEqual(larder.set_count_limit(cache, limit), larder.OUT_OF_RANGE)
            self.assertEqual(larder.set_cost_limit(cache, limit), larder.OUT_OF_RANGE)

    def test_policies_by_cost_keep_their_limit(self):
        for policy in (10, 11):
            cache, config = larder.created(policy=policy, cost_limit=9)
            self.assertEqual(larder.set(cache, b"a", 1, b"v", 1, 7, None), larder.OK)
            self.assertEqual(larder.set_cost_limit(cache, 0), larder.BAD_ARGUMENT)
            self.assertEqual(larder.asked(larder.get_cost_limit, cache), 9)
            self.assertEqual(larder.asked(larder.get_cost, cache), 7)
            self.assertEqual(larder.set_cost_limit(cache, 8), larder.OK)
            self.assertEqual(larder.destroy(cache), larder.OK)

    def test_iteration(self):
        visit = larder.Visit(lambda *_: 0)
        self.assertEqual(larder.iterate(self.cache, 2, visit, None), larder.BAD_ARGUMENT)
        self.assertEqual(larder.iterate(self.cache, -1, visit, None), larder.BAD_ARGUMENT)
        no_visit = ctypes.cast(None, larder.Visit)
        self.assertEqual(larder.iterate(self.cache, 0, no_visit, None), larder.BAD_ARGUMENT)

    def test_texts(self):
        texts = {larder.status_text(status) for status in range(-9, 6)}
        self.assertEqual(len(texts), 15)
        self.assertTrue(larder.status_text(99))
        # Of set_lifetime(), too: that removes what was stored before.
        self.assertNotIn(b"not stored", larder.status_text(larder.EXPIRED))
        self.assertEqual(larder.version(), 0x000100)


if __name__ == "__main__":
    unittest.main()
