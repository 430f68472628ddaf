# SPDX-License-Identifier: Apache-2.0
"""The plain model of a cache that answers to memory pressure and to the background.

Levels only rise here: how limits come back after pressure is a matter of time.
"""
import model

NORMAL, WARNING, CRITICAL, BACKGROUND = range(4)
UNBOUNDED = float("inf")


def part_of(whole, fraction):
    """Rounded up, but not for the error of two doubles: 0.07 * 100 is more than 7."""
    part = whole * fraction
    return min(int(part) + (int(part) < part * (1 - 2**-52)), whole)


class Cause:
    """Pressure, or the background: what it is a fraction of, and the limits that it has lowered."""

    def __init__(self):
        self.base = [0, 0]  # the most that the cache has held since a cause began: entries, cost
        self.cap = [UNBOUNDED, UNBOUNDED]


class PressedModel(model.Model):
    def __init__(self, policy, count_limit, cost_limit, fractions, least):
        super().__init__(policy, count_limit, cost_limit)
        self.fractions, self.least = fractions, least  # of warning, critical and background
        self.level, self.is_hidden = NORMAL, False
        self.pressure, self.background = Cause(), Cause()

    @property
    def limits(self):
        """Those in force, 0 for none."""
        own = [limit or UNBOUNDED for limit in (self.count_limit, self.cost_limit)]
        caps = zip(own, self.pressure.cap, self.background.cap)
        return [0 if limit == UNBOUNDED else limit for limit in map(min, caps)]

    @property
    def report_takes_time(self):
        """Whether a report may leave a cap below its goal, to which it then rises step by step."""
        keeps = self.fractions[max(self.level, WARNING) - 1 : CRITICAL]
        return any(c < g for keep in keeps for c, g in zip(self.pressure.cap, self.goal(keep)))

    def report(self, level):
        self.level = level
        self.answer(self.pressure, self.fractions[level - 1])

    def hide(self):
        if not self.is_hidden:
            self.is_hidden = True
            self.answer(self.background, self.fractions[BACKGROUND - 1])

    def show(self):
        self.is_hidden = False
        self.background = Cause()

    def goal(self, keep):
        """What the limits are lowered to."""
        if keep >= 1:
            return [UNBOUNDED, UNBOUNDED]
        return [
            max(part_of(limit, keep), -(-limit // 16), floor, 1) if limit else UNBOUNDED
            for limit, floor in zip((self.count_limit, self.cost_limit), (self.least, 0))
        ]

    def answer(self, cause, keep):
        if keep >= 1:
            return
        held = len(self.entries), self.exact_cost
        # What the other cause has evicted counts as held.
        cause.base = [max(of) for of in zip(self.pressure.base, self.background.base, held)]
        goal = self.goal(keep)
        bounds = list(goal)
        measure = 1 if self.cost_limit else 0  # a fraction is one of the cost where that is limited
        if not cause.cap[measure] <= goal[measure] < UNBOUNDED:
            part = part_of(cause.base[measure], keep)
            bounds[measure] = min(goal[measure], max(part, 0 if measure else self.least))
        while len(self.entries) > self.least and (
            len(self.entries) > bounds[0] or self.exact_cost > bounds[1]
        ):
            self.leave(self.entries[-1], model.PRESSURE_CAUSE)
        floors = 0, self.exact_cost if len(self.entries) <= self.least else 0
        lowered = [max(pair) if pair[0] < UNBOUNDED else UNBOUNDED for pair in zip(goal, floors)]
        cause.cap = [min(pair) for pair in zip(cause.cap, lowered)]
        self.enforce(model.TRIMMED)
