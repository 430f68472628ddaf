# SPDX-License-Identifier: Apache-2.0
"""Turns profiles of callgrind into counts per operation, and holds them against a baseline.

count.py PROGRAM OPERATIONS BASELINE check|update|show PROFILE...

OPERATIONS is a file of lines `name operations [hit ratio]`, one for each operation. What PROGRAM
counts with fifo as well has a second name that ends in _fifo, and shares a line of the table.

PROGRAM still has its debug information, which names the inlined code behind an instruction.
Addresses in a profile are those of the files, as objdump and llvm-symbolizer know them.
"""

import collections
import os
import re
import statistics
import subprocess
import sys

COLUMNS = ["instructions", "mallocs", "locks", "locked instructions", "of these ARC's"]
MALLOCS = re.compile(
    r"^(malloc|calloc|realloc|mallocx|rallocx|aligned_alloc|posix_memalign|memalign)(@.*)?$")
PTHREAD_LOCKS = re.compile(r"^pthread_(mutex|rwlock|spin)_(try|timed|rd|wr|lock)\w*(@.*)?$")
OWN_LOCKS = re.compile(r"^lrd_lock_(acquire|try)")
LOCKED = re.compile(r"^\s*([0-9a-f]+):\s+(?:lock |xchg\w* .*\()")
RISE = 0.05
LOCAL_SHARE = 0.6
FIFO = "_fifo"


class Profile:
    """Executions of every instruction of one profile, and where functions begin.

    How often a function was called is how often its first instruction was executed: callgrind's own
    counts of calls include those from before counting began.
    """

    def __init__(self, path):
        self.name = ""
        self.total = 0
        self.executions = collections.Counter()  # by object and address
        self.entries = {}  # object and address: the function that begins there
        object_file = callee_file = called = ""
        follows_call = False
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith("0x"):
                    # The line after calls= holds what the function called took altogether.
                    if not follows_call:
                        address, _, count = line.split()
                        self.executions[object_file, int(address, 16)] += int(count)
                    follows_call = False
                elif line.startswith("ob="):
                    object_file = callee_file = line[3:].strip()
                elif line.startswith("cob="):
                    callee_file = line[4:].strip()
                elif line.startswith("cfn="):
                    called = line[4:].strip()
                elif line.startswith("calls="):
                    self.entries[callee_file, int(line.split()[1], 16)] = called
                    callee_file = object_file
                    follows_call = True
                elif line.startswith("desc: Trigger: Client Request: "):
                    self.name = line.split(": ")[-1].strip()
                elif line.startswith("totals: "):
                    self.total = int(line.split()[1])

    def calls(self, pattern):
        """How often functions of such a name were called."""
        return sum(self.executions[entry] for entry, name in self.entries.items()
                   if pattern.match(name))


def locked_addresses(object_file):
    """Where the instructions of a file that lock memory are."""
    if not os.path.exists(object_file):
        return set()
    code = subprocess.run(["objdump", "-d", "-w", "--no-show-raw-insn", object_file],
                          capture_output=True, text=True, check=True).stdout
    return {int(found[1], 16) for line in code.splitlines() if (found := LOCKED.match(line))}


def inlined_names(program, addresses):
    """The functions, inlined ones too, that each of these addresses of `program` belongs to."""
    if not addresses:
        return {}
    said = subprocess.run(["llvm-symbolizer", "--output-style=LLVM", "--inlines", "-e", program,
                           *map(hex, addresses)],
                          capture_output=True, text=True, check=True).stdout
    # For each address names and places in turn, then an empty line.
    return {address: frames.splitlines()[::2]
            for address, frames in zip(addresses, said.strip().split("\n\n"))}


def counts(profiles, program, operations):
    """`{operation: [numbers of COLUMNS]}`: of an operation with several profiles, the medians."""
    objects = {key[0] for profile in profiles for key in profile.executions}
    locked = {path: locked_addresses(path) for path in objects}
    own = [path for path in objects if os.path.basename(path) == os.path.basename(program)]
    names = inlined_names(program, sorted({a for path in own for a in locked[path]}))
    found = collections.defaultdict(list)
    for profile in profiles:
        locks = profile.calls(PTHREAD_LOCKS)
        locking = arc = 0
        for (path, address), count in profile.executions.items():
            if address not in locked[path]:
                continue
            locking += count
            if "libswift" in path:
                arc += count
            if path in own and any(OWN_LOCKS.match(name) for name in names.get(address, [])):
                locks += count
        numbers = [profile.total, profile.calls(MALLOCS), locks, locking, arc]
        found[profile.name].append([number / operations[profile.name] for number in numbers])
    return {name: list(map(statistics.median, zip(*runs))) for name, runs in found.items()}


def table(found, baseline, ratios):
    rows = [["operation", *COLUMNS, "baseline", "change", "fifo's instructions", "above fifo's",
             "hit ratio", "fifo's"]]
    for name, numbers in found.items():
        if name.endswith(FIFO):
            continue
        before = baseline.get(name)
        change = f"{100 * (numbers[0] / before[0] - 1):+.1f} %" if before else ""
        fifo = found.get(name + FIFO)
        beside = [f"{fifo[0]:.1f}", f"{numbers[0] - fifo[0]:+.1f}"] if fifo else ["", ""]
        rows.append([name, f"{numbers[0]:.1f}", *(f"{number:.3f}" for number in numbers[1:]),
                     f"{before[0]:.1f}" if before else "", change, *beside,
                     ratios.get(name, ""), ratios.get(name + FIFO, "")])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    rows.insert(1, ["-" * widths[0]] + ["-" * (width - 1) + ":" for width in widths[1:]])
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        print("| " + " | ".join(cells) + " |")


def rises(found, baseline):
    """Sentences about what rose: by more than the bound, and by more than one in 200 operations."""
    for name, numbers in found.items():
        if name not in baseline:
            yield f"{name} is not in the baseline"
            continue
        for column, now, before in zip(COLUMNS, numbers, baseline[name]):
            if now > before * (1 + RISE) + 0.005:
                yield f"{name}: {column} rose from {before:.3f} to {now:.3f} per operation"


def broken_promises(found):
    """Sentences about what LocalCache's documentation says it takes of a Cache's instructions."""
    for operation in ["hit", "insert"]:
        local, shared = found[f"{operation}_local_int"][0], found[f"{operation}_int"][0]
        if local > LOCAL_SHARE * shared:
            yield (f"{operation}_local_int: {local:.1f} instructions are more than {LOCAL_SHARE} of "
                   f"{operation}_int's {shared:.1f}")


def announced(path):
    """The operations of every count, and the hit ratios of those that have one."""
    with open(path, encoding="utf-8") as file:
        lines = [line.split() for line in file]
    operations = {words[0]: int(words[1]) for words in lines}
    return operations, {words[0]: f"{float(words[2]):.4f}" for words in lines if len(words) > 2}


def read(path):
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        lines = [line.split() for line in file if not line.startswith("#")]
    return {words[0]: [float(word) for word in words[1:]] for words in lines if words}


def write(path, found):
    with open(path + ".part", "w", encoding="utf-8") as file:
        file.write("# Counts per operation, written by Benchmarks/count --update: operation, "
                   + ", ".join(COLUMNS) + "\n")
        for name, numbers in found.items():
            file.write(" ".join([name, *(f"{number:.3f}" for number in numbers)]) + "\n")
    os.replace(path + ".part", path)


def main():
    program, announcements, baseline_path, what, *paths = sys.argv[1:]
    operations, ratios = announced(announcements)
    profiles = [profile for profile in map(Profile, paths) if profile.name]
    if not profiles:
        sys.exit("count: callgrind wrote no profile")
    found = counts(profiles, program, operations)
    baseline = read(baseline_path)
    table(found, baseline, ratios)
    if what == "update":
        write(baseline_path, found)
        return
    if what == "show":
        return
    bad = [*rises(found, baseline), *broken_promises(found)]
    for sentence in bad:
        print(f"FAIL {sentence}")
    sys.exit(1 if bad else 0)


main()
