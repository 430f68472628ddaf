# SPDX-License-Identifier: Apache-2.0
"""A cache so plain that it is right by reading: one list of entries, the next to go at the end.

It answers what the library answers, in the words of larder.h, and keeps account of every value:
who holds it, and when it is released.
"""

OK, REPLACED, NOT_FOUND, TOO_COSTLY, TOO_SMALL = range(5)
EXPIRED = 6
LIMIT, TRIMMED, REPLACED_CAUSE, REMOVED, EXPIRED_CAUSE, PRESSURE_CAUSE = range(1, 7)
LRU, FIFO = 1, 2
LIMIT_MOST = 2**63 - 1
NEVER = float("inf")


class Life:
    """When the value of a key was written and used, and how long it may live after its writing."""

    def __init__(self, now, lifetime):
        self.written = self.used = now
        self.own = lifetime  # None: that of the cache


class Model:
    def __init__(self, policy, count_limit, cost_limit):
        self.policy, self.count_limit, self.cost_limit = policy, count_limit, cost_limit
        self.entries = []  # [key, value, cost], hottest or newest first
        self.hands = {}  # number of the hand: value
        self.gone = []  # [key, value, cost, cause] of the step that runs
        self.freed = []  # values released in the step that runs
        self.now, self.after_write, self.after_access = 0, NEVER, NEVER
        self.lives = {}  # key: Life
        self.is_timed = True  # False until the first lifetime: nobody notes when values are stored
        names = "hits misses insertions replacements removals refusals evictions trims expirations"
        names += " pressure"
        self.statistics = dict.fromkeys(names.split(), 0)

    def begin_step(self):
        self.gone, self.freed = [], []

    @property
    def limits(self):
        """Those in force, 0 for none."""
        return self.count_limit, self.cost_limit

    @property
    def exact_cost(self):
        return sum(cost for _, _, cost in self.entries)

    @property
    def cost(self):
        return min(self.exact_cost, LIMIT_MOST)

    def find(self, key):
        return next((entry for entry in self.entries if entry[0] == key), None)

    def use(self, key):
        """The value of a key, which LRU makes the hottest; None."""
        entry = self.find(key)
        self.statistics["hits" if entry else "misses"] += 1
        if not entry:
            return None
        self.lives[key].used = self.now
        if self.policy == LRU:
            self.to_front(entry)
        return entry[1]

    def to_front(self, entry):
        self.entries.remove(entry)
        self.entries.insert(0, entry)

    def set(self, key, value, cost, only_present=False, lifetime=None):
        """The status, and the value that was there."""
        if cost is None:
            cost = 1 if self.limits[1] else 0
        if only_present and not self.find(key):
            self.freed.append(value)
            return NOT_FOUND, None
        if self.limits[1] and cost > self.limits[1]:
            self.statistics["refusals"] += 1
            self.freed.append(value)
            return TOO_COSTLY, self.take(key, REMOVED)
        # In FIFO a value takes the place of the one it replaces.
        present = self.find(key)
        place = self.entries.index(present) if present and self.policy == FIFO else 0
        old = self.take(key, REPLACED_CAUSE)
        if old is None:
            self.statistics["insertions"] += 1
        entry = [key, value, cost]
        self.lives[key] = Life(self.now, lifetime)
        self.entries.insert(place, entry)
        self.enforce(LIMIT, spared=entry, fresh=old is None)
        return (OK if old is None else REPLACED), old

    def take(self, key, cause):
        """Removes the value of a key and returns it; None."""
        entry = self.find(key)
        if not entry:
            return None
        self.leave(entry, cause)
        return entry[1]

    def leave(self, entry, cause):
        self.entries.remove(entry)
        self.gone.append([*entry, cause])
        if entry[1] not in self.hands.values():
            self.freed.append(entry[1])
        counter = {
            LIMIT: "evictions", TRIMMED: "trims", REMOVED: "removals", EXPIRED_CAUSE: "expirations",
            PRESSURE_CAUSE: "pressure",
        }  # fmt: skip
        self.statistics[counter.get(cause, "replacements")] += 1

    def left(self, key):
        """How long the value of a key has to live."""
        life = self.lives[key]
        lifetime = self.after_write if life.own is None else life.own
        return min(life.written + lifetime, life.used + self.after_access) - self.now

    def give_lifetimes(self):
        """With the first lifetime, what is stored counts as written now."""
        if not self.is_timed:
            for key, *_ in self.entries:
                self.lives[key] = Life(self.now, None)
        self.is_timed = True

    def advance(self, time):
        """Lets time pass and removes what has expired. Returns how much."""
        self.now += time
        expired = [entry for entry in self.entries if self.left(entry[0]) <= 0]
        for entry in expired:
            self.leave(entry, EXPIRED_CAUSE)
        return len(expired)

    def remove_all(self):
        while self.entries:
            self.leave(self.entries[0], REMOVED)

    def trim(self, count, cost):
        while len(self.entries) > count:
            self.leave(self.entries[-1], TRIMMED)
        while self.exact_cost > cost:
            self.leave(self.next_for_cost(), TRIMMED)

    def next_for_cost(self):
        """The next to go where cost is wanted: up to 16 that cost nothing start over in front."""
        for _ in range(16):
            if self.entries[-1][2] > 0:
                break
            self.to_front(self.entries[-1])
        return self.entries[-1]

    def enforce(self, cause, spared=None, fresh=False):
        """Evicts down to the limits.

        A new entry, one whose turn it would be, and in LRU any that is stored ends in front.
        """
        while self.is_over():
            wants_cost, passed = not self.has_too_many(), 0
            while (last := self.entries[-1]) is spared or (
                wants_cost and last[2] == 0 and passed < 16
            ):
                fresh, passed = fresh or last is spared, passed + (last is not spared)
                self.to_front(last)
            self.leave(last, cause)
        if fresh or (spared and self.policy == LRU):
            self.to_front(spared)

    def has_too_many(self):
        return self.limits[0] and len(self.entries) > self.limits[0]

    def is_over(self):
        return self.has_too_many() or (self.limits[1] and self.exact_cost > self.limits[1])

    def let_go(self, hand):
        """Ends one hand; the last one frees a value that is not stored."""
        value = self.hands.pop(hand)
        stored = any(entry[1] == value for entry in self.entries)
        if not stored and value not in self.hands.values():
            self.freed.append(value)
