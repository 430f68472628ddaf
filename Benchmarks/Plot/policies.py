# SPDX-License-Identifier: Apache-2.0
"""Compares replayed miss ratios with reference tables, and prints what follows from them.

policies.py DIRECTORY MERGED.json PART.json...

DIRECTORY may hold reference.csv (trace, mode, policy, size_fraction, size, requests, miss_ratio,
byte_miss_ratio) and best.csv (the best online policy of each cell). Parts are results of
larder-bench replay; MERGED.json gets all of them together. The tables are about replays that store
what missed: other modes are compared with Larder's own policies alone.
"""

import collections
import csv
import json
import os
import sys

SMALLEST = 100  # objects; summaries leave smaller cells out
OFFLINE = {"Belady", "BeladySize"}


def read_csv(path):
    if not os.path.exists(path):
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def number(text):
    return float(text) if text else None


class Cells:
    """Miss ratios by mode, trace and size, each a mapping from a policy to (objects, bytes)."""

    def __init__(self):
        self.ratios = collections.defaultdict(dict)

    def add(self, mode, trace, size, policy, miss, byte_miss):
        self.ratios[mode, trace, size][policy] = (miss, byte_miss)

    def keys(self, mode):
        return sorted(key for key in self.ratios if key[0] == mode)


def merge(paths, target):
    header, rows, details = None, [], []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            first, *others = json.load(file)
        header = header or first
        rows += others
        details += first["details"]
    header["details"] = details
    with open(target + ".part", "w", encoding="utf-8") as file:
        json.dump([header, *rows], file, indent=1)
    os.replace(target + ".part", target)
    return rows, details


def print_table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    rows.insert(1, ["-" * widths[0]] + ["-" * (width - 1) + ":" for width in widths[1:]])
    for row in rows:
        cells = [row[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(row[1:], widths[1:])]
        print("| " + " | ".join(cells) + " |")
    print()


def percent(value, decimals=2):
    return "" if value is None else f"{100 * value:.{decimals}f}"


def print_trace(mode, trace, keys, own, reference, policies, counterparts):
    sizes = [size for _, _, size in keys]
    unit = "objects" if mode == "count" else "bytes"
    print(f"### {trace}, capacity in {unit}: miss ratio in %"
          + (", byte miss ratio after the slash" if mode == "bytes" else ""))
    print()

    def cells(table, policy):
        texts = []
        for key in keys:
            miss, byte_miss = table.ratios[key].get(policy, (None, None))
            text = percent(miss)
            texts.append(text + (f" / {percent(byte_miss)}" if text and mode == "bytes" else ""))
        return texts

    rows = [["policy", *(f"{size:,}" for size in sizes)]]
    rows += [[f"larder {policy}", *cells(own, policy)] for policy in policies]
    named = {counterparts[policy] for policy in policies if counterparts.get(policy)}
    others = sorted({policy for key in keys for policy in reference.ratios[key]},
                    key=lambda policy: (policy not in named, policy))
    rows += [[policy, *cells(reference, policy)] for policy in others]
    print_table(rows)


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else None


def summarise(own, reference, best, policies, counterparts):
    keys = [key for key in own.keys("count") if key[2] >= SMALLEST]
    rows = [["policy", "reduction against FIFO, %", "worst gap to the best, points", "where",
             "counterpart", "mean deviation", "largest deviation, points", "where"]]
    for policy in policies:
        by_trace = collections.defaultdict(list)
        gap = deviation = (None, "")
        signed = []
        for key in keys:
            miss = own.ratios[key].get(policy, (None,))[0]
            if miss is None:
                continue
            place = f"{key[1]} {key[2]}"
            others = reference.ratios[key]
            fifo = others.get("FIFO", own.ratios[key].get("fifo", (None,)))[0]
            if fifo:
                by_trace[key[1]].append(1 - miss / fifo)
            if key in best and (gap[0] is None or miss - best[key] > gap[0]):
                gap = (miss - best[key], place)
            counterpart = others.get(counterparts.get(policy), (None,))[0]
            if counterpart is not None:
                signed.append(miss - counterpart)
                if deviation[0] is None or abs(signed[-1]) > abs(deviation[0]):
                    deviation = (signed[-1], place)
        rows.append([policy, percent(mean(mean(values) for values in by_trace.values())),
                     percent(gap[0]), gap[1], counterparts.get(policy) or "",
                     percent(mean(signed), 3), percent(deviation[0], 3), deviation[1]])
    everybody = sorted({p for key in keys for p in reference.ratios[key]} - OFFLINE)
    for policy in everybody:
        by_trace = collections.defaultdict(list)
        gap = (None, "")
        for key in keys:
            others = reference.ratios[key]
            if policy not in others or "FIFO" not in others:
                continue
            by_trace[key[1]].append(1 - others[policy][0] / others["FIFO"][0])
            if key in best and (gap[0] is None or others[policy][0] - best[key] > gap[0]):
                gap = (others[policy][0] - best[key], f"{key[1]} {key[2]}")
        incomplete = "" if len({k[1] for k in keys}) == len(by_trace) else " (some traces)"
        rows.append([f"(reference) {policy}{incomplete}",
                     percent(mean(mean(values) for values in by_trace.values())),
                     percent(gap[0]), gap[1], "", "", "", ""])
    print(f"### Summary, cells of at least {SMALLEST} objects")
    print()
    print_table(rows)
    print("Reduction: mean over traces of the mean over sizes of 1 - miss ratio / FIFO's. Gap: to "
          "the best online policy of the cell. Deviation: from the counterpart's miss ratio.")


def summarise_bytes(own, reference, policies):
    """Object and byte miss ratios where both tables have the cell."""
    keys = [key for key in own.keys("bytes") if reference.ratios[key]]
    if not keys:
        return
    rows = [["policy", "miss ratio, %", "byte miss ratio, %"]]
    others = sorted({policy for key in keys for policy in reference.ratios[key]})
    for label, table, names in (("", own, policies), ("(reference) ", reference, others)):
        for policy in names:
            found = [table.ratios[key][policy] for key in keys if policy in table.ratios[key]]
            if len(found) == len(keys):
                rows.append([label + policy, percent(mean(miss for miss, _ in found)),
                             percent(mean(byte_miss for _, byte_miss in found))])
    print("### Summary, capacity in bytes: means over all cells")
    print()
    print_table(rows)


def report(directory, store, rows):
    """Compares the replays of one mode: rows, each with its details."""
    own, reference = Cells(), Cells()
    policies, counterparts, best = [], {}, {}
    for row, detail in rows:
        if row["hitRatio"] is None:  # it looked nothing up
            continue
        mode = "bytes" if detail["unit"] == "bytes" else "count"
        own.add(mode, row["trace"], row["capacity"], row["policy"], 1 - row["hitRatio"],
                detail.get("byteMissRatio"))
        if row["policy"] not in policies:
            policies.append(row["policy"])
            counterparts[row["policy"]] = detail.get("counterpart")
    if store == "miss":
        for line in read_csv(os.path.join(directory, "reference.csv")):
            reference.add(line["mode"], line["trace"], int(line["size"]), line["policy"],
                          float(line["miss_ratio"]), number(line["byte_miss_ratio"]))
        for line in read_csv(os.path.join(directory, "best.csv")):
            cell = line["mode"], line["trace"], int(line["size"])
            best[cell] = float(line["best_online_miss_ratio"])
    else:
        for cell, ratios in own.ratios.items():
            best[cell] = min(miss for miss, _ in ratios.values())
    for mode in ("count", "bytes"):
        keys = own.keys(mode)
        for trace in dict.fromkeys(key[1] for key in keys):
            mine = [key for key in keys if key[1] == trace]
            print_trace(mode, trace, mine, own, reference, policies, counterparts)
    summarise_bytes(own, reference, policies)
    summarise(own, reference, best, policies, counterparts)
    print()


def main():
    directory, merged, *parts = sys.argv[1:]
    rows, details = merge(parts, merged)
    stores = list(dict.fromkeys(row["store"] for row in rows))
    for store in stores:
        if stores != ["miss"]:
            print(f"## Stores: {store}\n")
        report(directory, store, [pair for pair in zip(rows, details) if pair[0]["store"] == store])


main()
