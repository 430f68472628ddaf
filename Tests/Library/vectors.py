#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the test vectors that every language's cache must agree with: one JSON object a line.

    vectors.py FILE            writes all of them, and fails if their digest is not vectors.sha256
    vectors.py --seed N FILE   writes others, for a longer search

    {"number": 7, "mode": 1, "policy": 1, "count_limit": 3, "cost_limit": 0, "collide": 2,
     "keys": ["00", "6162", ...],    in hexadecimal
     "steps": [[name, a, value, cost, status, result, gone, freed, count, cost sum], ...],
     "entries": [[key, value, cost], ...], "statistics": [...], "destroyed": [...], "late": [...]}

Keys are named by their place in `keys`, values by numbers in the order they are handed over; -1 is
none, or the default cost. The cache is created with one shard, so that it has one order. `mode` and
`policy` are those of larder.h; with `collide` above 0, keys whose numbers are equal modulo it have
equal hashes. Of a step, `a` is a key, a number or a hand, `gone` lists what the observer is told,
[key, value, cost, cause], and `freed` the values released, both sorted. At the end `entries` are in
order, `destroyed` is what the end of the cache releases, and `late` what the hands still out then
release.
"""
import argparse
import hashlib
import json
import pathlib
import sys

import model

COUNT = 2400


class SplitMix64:
    """Sebastiano Vigna's generator: the same everywhere, whatever Python's own becomes."""

    def __init__(self, seed):
        self.state = seed

    def below(self, bound):
        self.state = (self.state + 0x9E3779B97F4A7C15) % 2**64
        mixed = self.state
        mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB % 2**64
        return (mixed ^ mixed >> 31) % bound

    def pick(self, choices):
        return choices[self.below(len(choices))]


def make_key(number, random):
    """Different for different numbers: empty, short, with zero bytes, and longer than a block."""
    length = random.pick([0, 1, 3, 7, 8, 12, 15, 16, 17, 32, 33, 48, 80])
    if number == 0 and length == 0:
        return b""
    return bytes([number]) + bytes(random.pick([0, 0x61, 0xFF]) for _ in range(length))


# How often each operation comes.
WEIGHTS = dict(
    get=34, read=12, peek=4, contains=4, set=30, swap=8, replace=8, remove=6, pin=6, unpin=5,
    list=2, reclaim=1, trim_count=1, trim_cost=1, limit_count=1, limit_cost=1, remove_all=1,
)  # fmt: skip
OPERATIONS = [name for name, weight in WEIGHTS.items() for _ in range(weight)]


class Script:
    """One vector, made step by step on the model."""

    def __init__(self, number, seed):
        self.random = random = SplitMix64(seed * 1_000_003 + number)
        self.mode = number % 2
        self.keys = 2 + random.below(11)
        self.limits = random.pick([(1, 0), (2, 0), (4, 0), (8, 0), (0, 7), (0, 20), (3, 9), (0, 0)])
        self.costs = random.pick([[0], [1], [0, 1, 2], [1, 3, 9, 25], [2**40, 2**61, 2**63 - 1]])
        self.collide = random.pick([0, 0, 1, 2]) if self.mode else 0
        policy = random.pick([model.LRU, model.LRU, model.LRU, model.FIFO])
        self.model = model.Model(policy, *self.limits)
        self.values = 0
        self.hands = 0
        self.line = {
            "number": number, "mode": self.mode, "policy": policy,
            "count_limit": self.limits[0], "cost_limit": self.limits[1], "collide": self.collide,
            "keys": [make_key(n, random).hex() for n in range(self.keys)],
        }  # fmt: skip
        self.line["steps"] = [self.step() for _ in range(50 + random.below(151))]
        self.end()

    def step(self):
        cache, random = self.model, self.random
        cache.begin_step()
        name = random.pick(OPERATIONS)
        if name == "read" and self.mode:
            name = "get"
        if name == "unpin" and not cache.hands:
            name = "pin"
        a, value, cost, status, result = getattr(self, name)()
        return [
            name, a, value, cost, status, result, sorted(cache.gone), sorted(cache.freed),
            len(cache.entries), cache.cost,
        ]  # fmt: skip

    def end(self):
        cache, line = self.model, self.line
        line["entries"] = [list(entry) for entry in cache.entries]
        line["statistics"] = list(cache.statistics.values())
        cache.begin_step()
        held = set(cache.hands.values())
        line["destroyed"] = sorted(v for _, v, _ in cache.entries if v not in held)
        line["late"] = sorted(held)

    # Each returns a, value, cost, status, result.

    def found(self, key, value, a=None):
        status = model.NOT_FOUND if value is None else model.OK
        return key if a is None else a, -1, -1, status, -1 if value is None else value

    def get(self):
        key = self.random.below(self.keys)
        return self.found(key, self.model.use(key))

    def read(self):
        """Into a buffer of `cost` bytes."""
        key, room = self.random.below(self.keys), self.random.pick([0, 3, 20, 64])
        value = self.model.use(key)
        if value is None:
            return key, -1, room, model.NOT_FOUND, -1
        fits = len(value_bytes(value)) <= room
        return key, -1, room, model.OK if fits else model.TOO_SMALL, value

    def peek(self):
        key = self.random.below(self.keys)
        entry = self.model.find(key)
        return self.found(key, entry and entry[1])

    contains = peek

    def store(self, only_present=False, tells_old=True):
        key, value = self.random.below(self.keys), self.values
        self.values += 1
        cost = None if self.random.below(4) == 0 else self.random.pick(self.costs)
        status, old = self.model.set(key, value, cost, only_present)
        told = old if tells_old and old is not None else -1
        return key, value, -1 if cost is None else cost, status, told

    def set(self):
        return self.store(tells_old=False)

    def swap(self):
        return self.store()

    def replace(self):
        return self.store(only_present=True)

    def remove(self):
        key = self.random.below(self.keys)
        return self.found(key, self.model.take(key, model.REMOVED))

    def pin(self):
        """A get whose value stays in hand `value`."""
        key, hand = self.random.below(self.keys), self.hands
        value = self.model.use(key)
        if value is None:
            return key, -1, -1, model.NOT_FOUND, -1
        self.hands += 1
        self.model.hands[hand] = value
        return key, hand, -1, model.OK, value

    def unpin(self):
        hand = self.random.pick(sorted(self.model.hands))
        self.model.let_go(hand)
        return hand, -1, -1, model.OK, -1

    def list(self):
        """The entries, hottest (0) or coldest (1) first."""
        order = self.random.below(2)
        entries = self.model.entries[:: -1 if order else 1]
        return order, -1, -1, model.OK, [list(entry) for entry in entries]

    def reclaim(self):
        return -1, -1, -1, model.OK, -1

    def remove_all(self):
        self.model.remove_all()
        return self.reclaim()

    def trim_count(self):
        bound = self.random.below(6)
        self.model.trim(bound, self.model.exact_cost)
        return bound, -1, -1, model.OK, -1

    def trim_cost(self):
        bound = self.random.below(12)
        self.model.trim(len(self.model.entries), bound)
        return bound, -1, -1, model.OK, -1

    def limit_count(self):
        self.model.count_limit = limit = self.random.pick([0, 1, 2, 3, 5, 9])
        self.model.enforce(model.TRIMMED)
        return limit, -1, -1, model.OK, -1

    def limit_cost(self):
        self.model.cost_limit = limit = self.random.pick([0, 1, 5, 12, 30])
        self.model.enforce(model.TRIMMED)
        return limit, -1, -1, model.OK, -1


def value_bytes(value):
    """What value number `value` is in byte mode."""
    return f"{value}:".encode() + b"v" * (value * 7 % 61)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("file", type=pathlib.Path)
    arguments = parser.parse_args()
    digest = hashlib.sha256()
    with arguments.file.open("wb") as file:
        for number in range(COUNT):
            line = Script(number, arguments.seed or 1).line
            text = json.dumps(line, separators=(",", ":")).encode() + b"\n"
            digest.update(text)
            file.write(text)
    if arguments.seed is None:
        expected = pathlib.Path(__file__).with_name("vectors.sha256").read_text().strip()
        if digest.hexdigest() != expected:
            sys.exit(f"The vectors' digest is {digest.hexdigest()}, not {expected}.")


if __name__ == "__main__":
    main()
