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

Timed vectors have {"after_write": 25, "after_access": 0, "expires": 1} as well: a clock that stands
still between steps, lifetimes in units of UNIT nanoseconds, 0 for none, and whether the cache is
made for lifetimes. In their steps the lifetime is `cost`, and NEVER stands for one without end.

Pressed vectors have {"response": [0.5, 0.1, 1, 0]}: the fractions to keep at a warning, when memory
is critical, and in the background, and the least number of entries. Levels only rise in them.
"""
import argparse
import hashlib
import json
import pathlib
import sys

import model
import pressed

PLAIN_COUNT, TIMED_COUNT, PRESSED_COUNT = 2400, 1200, 600
COUNT = PLAIN_COUNT + TIMED_COUNT + PRESSED_COUNT

# Nanoseconds: a multiple of every resolution in use.
UNIT = 1_024_000_000
NEVER = -2


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
TIMED_WEIGHTS = dict(
    get=30, read=8, peek=4, contains=4, set=20, swap=5, replace=5, remove=4, pin=4, unpin=3, list=3,
    reclaim=1, trim_count=1, limit_count=1, remove_all=1, set_for=14, set_life=6, life=8, advance=18,
    expiration=3,
)  # fmt: skip


PRESSED_WEIGHTS = dict(
    get=30, peek=4, contains=4, set=40, swap=5, replace=5, remove=4, list=3, reclaim=1, trim_count=1,
    limit_count=2, limit_cost=2, remove_all=1, report=8, hide=4, show=4,
    limits_in_force=8,
)  # fmt: skip


def drawn_by(weights):
    return [name for name, weight in weights.items() for _ in range(weight)]


# Deadlines never come to stand at a moment of a clock that moves by tens. A hit prolongs an idle
# lifetime if the last one was more than a 64th of it ago.
LIFETIMES = [5, 15, 35, 95, 305, NEVER]
MOVES = [10, 10, 10, 20, 50, 100, 300]


def time_of(lifetime):
    return model.NEVER if lifetime in (0, NEVER) else lifetime


class Script:
    """One vector, made step by step on the model."""

    operations = drawn_by(WEIGHTS)

    def __init__(self, number, seed):
        self.random = random = SplitMix64(seed * 1_000_003 + number)
        self.mode = number % 2
        self.keys = 2 + random.below(11)
        self.limits = random.pick([(1, 0), (2, 0), (4, 0), (8, 0), (0, 7), (0, 20), (3, 9), (0, 0)])
        self.costs = random.pick([[0], [1], [0, 1, 2], [1, 3, 9, 25], [2**40, 2**61, 2**63 - 1]])
        self.collide = random.pick([0, 0, 1, 2]) if self.mode else 0
        policy = random.pick([model.LRU, model.LRU, model.LRU, model.FIFO])
        self.model = self.new_model(policy)
        self.values = 0
        self.hands = 0
        self.line = {
            "number": number, "mode": self.mode, "policy": policy,
            "count_limit": self.limits[0], "cost_limit": self.limits[1], "collide": self.collide,
            "keys": [make_key(n, random).hex() for n in range(self.keys)],
        }  # fmt: skip
        self.prepare()
        self.line["steps"] = [self.step() for _ in range(50 + random.below(151))]
        self.end()

    def new_model(self, policy):
        return model.Model(policy, *self.limits)

    def prepare(self):
        pass

    def step(self):
        cache, random = self.model, self.random
        cache.begin_step()
        name = self.possible(random.pick(self.operations))
        a, value, cost, status, result = getattr(self, name)()
        return [
            name, a, value, cost, status, result, sorted(cache.gone), sorted(cache.freed),
            len(cache.entries), cache.cost,
        ]  # fmt: skip

    def possible(self, name):
        """This operation, or another one if it cannot be done now."""
        if name == "read" and self.mode:
            return "get"
        if name == "unpin" and not self.model.hands:
            return "pin"
        if name == "expiration" and self.line["after_access"]:
            return "reclaim"  # when a value was used last is known only roughly then
        return name

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

    def store(self, only_present=False, tells_old=True, has_cost=False):
        key, value = self.random.below(self.keys), self.values
        self.values += 1
        cost = None if not has_cost and self.random.below(4) == 0 else self.random.pick(self.costs)
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


class TimedScript(Script):
    """A vector with a clock and lifetimes."""

    operations = drawn_by(TIMED_WEIGHTS)

    def prepare(self):
        cache, random = self.model, self.random
        after_write, after_access = random.pick([0, 0, 25, 105, 305]), random.pick([0, 0, 15, 45, 205])
        expires = int(bool(after_write or after_access or random.below(2)))
        cache.after_write, cache.after_access = time_of(after_write), time_of(after_access)
        cache.is_timed = bool(expires)
        self.line |= {
            "after_write": after_write, "after_access": after_access, "expires": expires,
        }  # fmt: skip

    def advance(self):
        """The clock moves, and what has expired is removed."""
        time = self.random.pick(MOVES)
        return time, -1, -1, model.OK, self.model.advance(time)

    def lifetime(self):
        return 0 if self.random.below(12) == 0 else self.random.pick(LIFETIMES)

    def set_for(self):
        """A value with a lifetime of its own; not stored if that is 0."""
        key, value, lifetime = self.random.below(self.keys), self.values, self.lifetime()
        self.values += 1
        self.model.give_lifetimes()
        if lifetime == 0:
            self.model.freed.append(value)
            self.model.take(key, model.REMOVED)
            return key, value, 0, model.EXPIRED, -1
        status, _ = self.model.set(key, value, None, lifetime=time_of(lifetime))
        return key, value, lifetime, status, -1

    def set_life(self):
        """Another lifetime, from now, for a value that is there."""
        key, lifetime = self.random.below(self.keys), self.lifetime()
        self.model.give_lifetimes()
        if not self.model.find(key):
            return key, -1, lifetime, model.NOT_FOUND, -1
        if lifetime == 0:
            self.model.take(key, model.EXPIRED_CAUSE)
            return key, -1, 0, model.EXPIRED, -1
        self.model.lives[key] = model.Life(self.model.now, time_of(lifetime))
        return key, -1, lifetime, model.OK, -1

    def life(self):
        key = self.random.below(self.keys)
        if not self.model.find(key):
            return key, -1, -1, model.NOT_FOUND, -1
        left = self.model.left(key)
        return key, -1, -1, model.OK, NEVER if left == model.NEVER else left

    def expiration(self):
        """Another lifetime after writing, also for what is there. What goes by that is removed."""
        cache, after_write = self.model, self.random.pick([0, 25, 105, 305])
        cache.give_lifetimes()
        cache.after_write = time_of(after_write)
        cache.advance(0)
        return after_write, -1, -1, model.OK, -1


class PressedScript(Script):
    """A vector with memory pressure."""

    operations = drawn_by(PRESSED_WEIGHTS)

    def new_model(self, policy):
        random = self.random
        # Entries without a cost may be passed over in turn.
        self.costs = [cost for cost in self.costs if cost] or [1]
        warning = random.pick([1, 0.75, 0.5, 0.3])
        critical = random.pick([0.5, 0.1, 0]) * warning
        background = random.pick([1, 0.5, 0.25, 0])
        self.response = [warning, critical, background, random.pick([0, 0, 1, 3])]
        return pressed.PressedModel(policy, *self.limits, self.response[:3], self.response[3])

    def prepare(self):
        self.line["response"] = self.response

    def possible(self, name):
        if name == "report" and self.model.report_takes_time:
            return "reclaim"
        return super().possible(name)

    def store(self, **how):
        if not self.model.limits[1]:
            how["has_cost"] = True  # the default would be 0
        return super().store(**how)

    def report(self):
        level = max(self.model.level, self.random.pick([pressed.WARNING, pressed.CRITICAL]))
        self.model.report(level)
        return level, -1, -1, model.OK, -1

    def hide(self):
        self.model.hide()
        return self.reclaim()

    def show(self):
        self.model.show()
        return self.reclaim()

    def limits_in_force(self):
        count, cost = self.model.limits
        return -1, -1, -1, model.OK, [[count, cost]]


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
            kind = Script if number < PLAIN_COUNT else TimedScript
            if number >= PLAIN_COUNT + TIMED_COUNT:
                kind = PressedScript
            line = kind(number, arguments.seed or 1).line
            text = json.dumps(line, separators=(",", ":")).encode() + b"\n"
            digest.update(text)
            file.write(text)
    if arguments.seed is None:
        expected = pathlib.Path(__file__).with_name("vectors.sha256").read_text().strip()
        if digest.hexdigest() != expected:
            sys.exit(f"The vectors' digest is {digest.hexdigest()}, not {expected}.")


if __name__ == "__main__":
    main()
