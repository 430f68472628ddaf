# SPDX-License-Identifier: Apache-2.0
"""Runs every vector of LARDER_VECTORS on the shared library; vectors.py tells their form.

With LARDER_VECTORS_EVERY only those whose numbers it divides.
"""
import ctypes
import json
import os
import time
import unittest

import larder
import vectors

EVERY = int(os.environ.get("LARDER_VECTORS_EVERY", 1))


class Player:
    """One cache that plays a vector. Objects are numbers: key k is the pointer k + 1, value v the
    pointer v + 1."""

    def __init__(self, vector):
        self.objects = vector["mode"] == larder.OBJECTS
        self.collide = vector["collide"]
        self.keys = [bytes.fromhex(key) for key in vector["keys"]]
        self.numbers = {key: number for number, key in enumerate(self.keys)}
        self.gone, self.freed, self.hands = [], [], {}
        self.retained = self.keys_kept = 0
        self.ended = False
        callbacks = dict(
            removed=larder.Removed(self.on_removed),
            context_release=larder.ContextRelease(self.on_end),
        )
        if self.objects:
            callbacks.update(
                hash=larder.Hash(self.on_hash),
                equal=larder.Equal(lambda _, a, a_size, b, b_size: a == b),
                key_retain=larder.KeyRetain(self.on_key_retain),
                key_release=larder.Release(self.on_key_release),
                value_retain=larder.Release(self.on_value_retain),
                value_release=larder.Release(self.on_value_release),
            )
        self.clock, self.after_access = None, vector.get("after_access", 0)
        if "expires" in vector:
            self.clock = ctypes.c_void_p()
            assert larder.clock_create(self.clock) == larder.OK
            callbacks.update(
                clock=self.clock,
                expires=vector["expires"],
                after_write=vector["after_write"] * vectors.UNIT,
                after_access=vector["after_access"] * vectors.UNIT,
            )
        self.cache, self.config = larder.created(
            mode=vector["mode"],
            policy=vector["policy"],
            count_limit=vector["count_limit"],
            cost_limit=vector["cost_limit"],
            shards=1,  # one order, as the model's
            **callbacks,
        )
        if "response" in vector:
            larder.listen(0)
            warning, critical, background, least = vector["response"]
            response = larder.PressureResponse(
                warning, critical, background, minimum_count=least
            )
            assert larder.set_pressure_response(self.cache, response) == larder.OK

    # Callbacks.

    def on_hash(self, _, key, size):
        return (key - 1) % self.collide if self.collide else key * 0x9E3779B97F4A7C15 % 2**64

    def on_key_retain(self, _, key, size, kept):
        self.keys_kept += 1
        kept[0] = key
        return 0

    def on_key_release(self, _, key, size):
        self.keys_kept -= 1

    def on_value_retain(self, _, value, size):
        self.retained += 1

    def on_value_release(self, _, value, size):
        self.retained -= 1
        self.freed.append(value - 1)

    def on_removed(self, _, value, cause):
        self.gone.append([*self.entry(value), cause])

    def on_end(self, _):
        self.ended = True

    # Names.

    def key(self, number):
        return (number + 1, 1) if self.objects else (self.keys[number], len(self.keys[number]))

    def data(self, number):
        if self.objects:
            return number + 1, number
        data = vectors.value_bytes(number)
        return data, len(data)

    def value(self, handle):
        """The number of a value in hand."""
        data, size = larder.data_of(handle)
        if self.objects:
            assert size == data - 1
            return data - 1
        return self.decoded(ctypes.string_at(data, size))

    def decoded(self, data):
        number = int(data.split(b":")[0])
        assert data == vectors.value_bytes(number)
        return number

    def entry(self, handle):
        key, size = larder.key_of(handle)
        number = key - 1 if self.objects else self.numbers[ctypes.string_at(key, size)]
        return [number, self.value(handle), larder.cost_of(handle)]

    # Steps: status, result.

    def take(self, status, handle, keep=None):
        """The status, and the number of what was handed out, which is let go unless kept."""
        if not handle:
            return status, -1
        number = self.value(handle)
        if keep is None:
            assert larder.value_release(handle) == larder.OK
        else:
            self.hands[keep] = handle
        return status, number

    def play(self, name, a, value, cost):
        handle = ctypes.c_void_p()
        stores = name in ("set", "swap", "replace")
        cost = larder.COST_DEFAULT if cost == -1 and stores else cost
        if name in ("get", "peek", "pin"):
            call = larder.peek if name == "peek" else larder.get
            status = call(self.cache, *self.key(a), handle)
            return self.take(status, handle, value if name == "pin" else None)
        if name == "contains":
            status = larder.contains(self.cache, *self.key(a))
            return status, None
        if name == "read":
            buffer, size = ctypes.create_string_buffer(b"#" * 80, 80), ctypes.c_uint64()
            status = larder.read(self.cache, *self.key(a), buffer, cost, size)
            assert buffer.raw[cost:] == b"#" * (80 - cost)
            if status == larder.OK:
                return status, self.decoded(buffer.raw[: size.value])
            return status, size.value if status == larder.TOO_SMALL else -1
        if stores:
            call = larder.replace if name == "replace" else larder.set
            old = None if name == "set" else handle
            status = call(self.cache, *self.key(a), *self.data(value), cost, old)
            return self.take(status, handle)
        if name == "remove":
            return self.take(larder.remove(self.cache, *self.key(a), handle), handle)
        if name == "unpin":
            return larder.value_release(self.hands.pop(a)), -1
        if name == "list":
            entries = []

            def visit(_, value):
                entries.append(self.entry(value))
                return 0

            return larder.iterate(self.cache, a, larder.Visit(visit), None), entries
        if name in ("reclaim", "remove_all"):
            return getattr(larder, name)(self.cache), -1
        if name == "report":
            return larder.report_pressure(a), -1
        if name in ("hide", "show"):
            return larder.background(name == "hide"), -1
        if name == "limits_in_force":
            asked = larder.get_effective_count_limit, larder.get_effective_cost_limit
            return larder.OK, [[larder.asked(function, self.cache) for function in asked]]
        if name in ("advance", "set_for", "set_life", "life", "expiration"):
            return getattr(self, name)(a, value, cost)
        call = dict(
            trim_count=larder.trim_to_count,
            trim_cost=larder.trim_to_cost,
            limit_count=larder.set_count_limit,
            limit_cost=larder.set_cost_limit,
        )[name]
        return call(self.cache, a), -1

    # Steps of timed vectors.

    def advance(self, time, *_):
        assert larder.clock_advance(self.clock, time * vectors.UNIT) == larder.OK
        count = ctypes.c_uint64()
        return larder.remove_expired(self.cache, count), count.value

    def set_for(self, a, value, lifetime):
        data, size = self.data(value)
        lifetime = in_nanoseconds(lifetime)
        cost = larder.COST_DEFAULT
        return larder.set_for(self.cache, *self.key(a), data, size, cost, lifetime, None), -1

    def set_life(self, a, _, lifetime):
        return larder.set_lifetime(self.cache, *self.key(a), in_nanoseconds(lifetime)), -1

    def life(self, a, *_):
        left = ctypes.c_uint64()
        status = larder.get_lifetime(self.cache, *self.key(a), left)
        if status != larder.OK:
            return status, -1
        # The moment in which a value was stored may be known to two ticks.
        return status, vectors.NEVER if left.value == larder.NEVER else -(-left.value // vectors.UNIT)

    def expiration(self, after_write, *_):
        write, access = after_write * vectors.UNIT, self.after_access * vectors.UNIT
        status, count = larder.set_expiration(self.cache, write, access, 0), ctypes.c_uint64()
        assert larder.remove_expired(self.cache, count) == larder.OK
        return status, -1

    def statistics(self):
        s = larder.Statistics()
        assert larder.get_statistics(self.cache, s) == larder.OK
        evictions = s.count_evictions + s.cost_evictions
        return [
            s.hits, s.misses, s.insertions, s.replacements, s.removals, s.refusals, evictions,
            s.trim_evictions, s.expirations, s.pressure_evictions,
        ]  # fmt: skip


def in_nanoseconds(lifetime):
    return larder.NEVER if lifetime == vectors.NEVER else lifetime * vectors.UNIT


class Vectors(unittest.TestCase):
    def check_step(self, player, step):
        name, a, value, cost, status, result, gone, freed, count, total = step
        player.gone, player.freed = [], []
        answer = player.play(name, a, value, cost)
        if name == "contains":
            result = None
        if name == "read" and status == larder.TOO_SMALL:
            result = len(vectors.value_bytes(result))
        self.assertEqual(answer, (status, result))
        self.assertEqual(sorted(player.gone), gone)
        if player.objects:
            self.assertEqual(sorted(player.freed), freed)
        self.assertEqual(larder.asked(larder.get_count, player.cache), count)
        self.assertEqual(larder.asked(larder.get_cost, player.cache), total)

    def check_end(self, player, vector):
        self.assertEqual(player.play("list", 0, -1, -1), (larder.OK, vector["entries"]))
        self.assertEqual(player.statistics(), vector["statistics"])
        player.gone, player.freed = [], []
        self.assertEqual(larder.destroy(player.cache), larder.OK)
        self.assertEqual(player.gone, [])
        destroyed, late = vector["destroyed"], vector["late"]
        if player.objects:
            self.assertEqual(sorted(player.freed), destroyed)
        if not player.clock:
            self.assertEqual(player.ended, not player.hands)
        player.freed = []
        for hand in player.hands.values():
            player.value(hand)
            larder.value_release(hand)
        if player.objects:
            self.assertEqual(sorted(player.freed), late)
        if player.clock:
            larder.clock_release(player.clock)
            # A cache with lifetimes ends when the background thread has let go of it.
            deadline = time.monotonic() + 60
            while not player.ended and time.monotonic() < deadline:
                time.sleep(0.001)
        self.assertTrue(player.ended)
        self.assertEqual((player.retained, player.keys_kept), (0, 0))
        larder.report_pressure(larder.NORMAL)
        larder.background(0)

    def test_vectors(self):
        with open(os.environ["LARDER_VECTORS"]) as file:
            for vector in map(json.loads, file):
                if vector["number"] % EVERY != 0:
                    continue
                player = Player(vector)
                for number, step in enumerate(vector["steps"]):
                    with self.subTest(vector=vector["number"], number=number, step=step):
                        self.check_step(player, step)
                with self.subTest(vector=vector["number"]):
                    self.check_end(player, vector)
        self.assertEqual(vector["number"] + 1, vectors.COUNT)


if __name__ == "__main__":
    unittest.main()
