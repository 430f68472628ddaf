# SPDX-License-Identifier: Apache-2.0
"""Draws what result files of larder-bench hold, one picture for each kind of measurement.

throughput: bars; latency: time by percentile; replay: miss ratio by cache size; growth: time of an
insertion by size; memory: bytes per entry by size; pressure: hits, memory and stalls by time.
overview: lookups of several threads, and misses of a replay, side by side.
"""

import json
import math
import os
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.ticker import FuncFormatter, NullFormatter  # noqa: E402

# What never evicts misses nothing that it once had.
WITHOUT_LIMIT = ("dictionary", "urcu")

# Larder stands out; every name has its colour in all pictures.
COLOURS = {
    "larder": "#d1495b", "larder-lend": "#e68a96", "larder-batch": "#f0b9c0",
    "dictionary": "#30638e", "index-lru": "#00798c", "class-lru": "#66a6b0",
    "nscache": "#8d8d8d", "tbb-lru": "#edae49", "urcu": "#b8a15c", "caffeine": "#6f4e9c",
}
POLICY_COLOURS = [
    "#30638e", "#00798c", "#edae49", "#6f4e9c", "#8d8d8d", "#4c9f70", "#b8632e", "#a3c4dc",
    "#c77dba", "#5c5c3d", "#1b1b3a",
]
TITLES = {
    "larder": "Larder", "larder-lend": "Larder, withValue", "larder-batch": "Larder, batches of 64",
    "dictionary": "Dictionary + lock", "index-lru": "index-linked LRU + lock",
    "class-lru": "class-node LRU + lock", "nscache": "NSCache",
    "tbb-lru": "TBB concurrent_lru_cache", "urcu": "liburcu hash table", "caffeine": "Caffeine",
}

plt.rcParams.update({
    "figure.figsize": (13.33, 7.5), "figure.dpi": 120, "font.size": 15, "axes.titlesize": 16,
    "axes.titleweight": "bold", "axes.spines.top": False, "axes.spines.right": False,
    "axes.grid": True, "grid.color": "#e4e4e4", "axes.axisbelow": True, "svg.fonttype": "none",
    "lines.linewidth": 2.4,
})


def grid(count, **options):
    columns = 1 if count == 1 else 2 if count <= 4 else 3 if count <= 9 else 4
    rows = math.ceil(count / columns)
    figure, axes = plt.subplots(rows, columns, squeeze=False, layout="constrained", **options)
    flat = list(axes.flat)
    for spare in flat[count:]:
        spare.axis("off")
    if rows > 2:
        for axis in flat:
            axis.tick_params(labelsize=11)
            axis.title.set_fontsize(13)
    return figure, flat[:count]


def legend(figure, axes, columns=5, size=13):
    found = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels()):
            found.setdefault(label, handle)
    figure.legend(found.values(), found.keys(), loc="outside lower center", frameon=False,
                  ncols=min(columns, max(1, len(found))), fontsize=size)


def short(number):
    for bound, unit in ((1e6, "M"), (1e3, "k")):
        if number >= bound:
            return f"{number / bound:.3g} {unit}"
    return f"{number:g}"


def time_text(nanoseconds):
    for bound, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if nanoseconds >= bound:
            return f"{nanoseconds / bound:g} {unit}"
    return f"{nanoseconds:g} ns"


def in_order(values):
    return list(dict.fromkeys(values))


def throughput(rows):
    rows = [row for row in rows if row["mops"] is not None
            and row["workload"] not in ("replay", "growth", "memory")]
    if not rows:
        return None
    panels = in_order((row["workload"], row["keys"], row["values"]) for row in rows)
    figure, axes = grid(len(panels))
    for axis, panel in zip(axes, panels):
        mine = [row for row in rows if (row["workload"], row["keys"], row["values"]) == panel]
        names = in_order(row["implementation"] for row in mine)
        threads = sorted({row["threads"] for row in mine})
        width = 0.84 / len(names)
        for place, name in enumerate(names):
            heights = {row["threads"]: row["mops"] for row in mine if row["implementation"] == name}
            at = [index + (place - (len(names) - 1) / 2) * width
                  for index, count in enumerate(threads) if count in heights]
            bars = axis.bar(at, [heights[count] for count in threads if count in heights],
                            width * 0.92, color=COLOURS.get(name), label=TITLES.get(name, name))
            axis.bar_label(bars, fmt=lambda v: f"{v:.3g}", fontsize=11 if len(panels) < 3 else 8,
                           padding=2)
        axis.margins(y=0.14)
        axis.set_xticks(range(len(threads)),
                        [f"{count} thread{'s' if count > 1 else ''}" for count in threads])
        axis.grid(axis="x", visible=False)
        axis.set_ylabel("million operations a second")
        entries = next(row["entries"] for row in mine)
        axis.set_title(f"{panel[0]}: {short(entries)} {panel[1]} keys, {panel[2]} values")
    legend(figure, axes)
    return figure


def overview(rows):
    hits = [row for row in rows if row["workload"] == "resident" and row["mops"] is not None]
    names = in_order(row["implementation"] for row in hits)
    misses = [row for row in rows if row["workload"] == "replay" and row["implementation"] in names
              and row["implementation"] not in WITHOUT_LIMIT and row["hitRatio"] is not None]
    if len({row["threads"] for row in hits}) < 2 or not misses:
        return None
    # One bar for each name: the first trace, size and mode of storing.
    first = tuple(misses[0].get(name) for name in ("trace", "capacity", "store"))
    policies = in_order(row["policy"] for row in misses if row["policy"])
    bounded = [row for row in misses
               if tuple(row.get(name) for name in ("trace", "capacity", "store")) == first
               and row["policy"] in (None, *policies[:1])]
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(11, 3.9), layout="constrained", width_ratios=(1.9, 1))
    threads = sorted({row["threads"] for row in hits})
    width = 0.84 / len(names)
    for place, name in enumerate(names):
        heights = {row["threads"]: row["mops"] for row in hits if row["implementation"] == name}
        # What was refused has no bar.
        at = [index + (place - (len(names) - 1) / 2) * width
              for index, count in enumerate(threads) if count in heights]
        bars = left.bar(at, [heights[count] for count in threads if count in heights], width * 0.92,
                        color=COLOURS.get(name), label=TITLES.get(name, name))
        left.bar_label(bars, fmt=lambda v: f"{v:.2g}" if v < 10 else f"{v:.0f}", fontsize=9, padding=2)
    left.set_xticks(range(len(threads)),
                    [f"{count} thread{'s' if count > 1 else ''}" for count in threads])
    left.set_ylabel("million hits a second", fontsize=12)
    left.set_title(f"Hits, {short(hits[0]['entries'])} entries", fontsize=13)
    bars = right.barh([TITLES.get(row["implementation"], row["implementation"]) for row in bounded],
                      [100 * (1 - row["hitRatio"]) for row in bounded],
                      color=[COLOURS.get(row["implementation"]) for row in bounded])
    right.bar_label(bars, fmt=lambda v: f"{v:.1f} %", fontsize=10, padding=2)
    right.invert_yaxis()
    right.margins(x=0.18)
    right.tick_params(axis="y", labelsize=10)
    right.set_title(f"Misses, room for {short(bounded[0]['capacity'])}", fontsize=13)
    right.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g} %"))
    left.tick_params(axis="y", labelsize=10)
    for axis, line in ((left, "x"), (right, "y")):
        axis.grid(axis=line, visible=False)
        axis.tick_params(axis="x", labelsize=11)
    legend(figure, [left], size=10)
    return figure


def latency(rows, details):
    pairs = [(row, detail) for row, detail in zip(rows, details) if detail.get("curve")]
    if not pairs:
        return None
    panels = in_order((row["workload"], row["threads"]) for row, _ in pairs)
    figure, axes = grid(len(panels), sharey=True)
    ticks = [0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999]
    for axis, panel in zip(axes, panels):
        for row, detail in pairs:
            if (row["workload"], row["threads"]) != panel:
                continue
            name = row["implementation"]
            points = [(1 / (1 - f), max(5, ns)) for f, ns in detail["curve"] if f < 0.999995]
            axis.plot(*zip(*points), color=COLOURS.get(name), label=TITLES.get(name, name),
                      zorder=3 if name == "larder" else 2,
                      linewidth=3.6 if name == "larder" else 2.2)
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_xticks([1 / (1 - f) for f in ticks],
                        ["p50", "p90", "p99", "p99.9", "p99.99", "p99.999"],
                        fontsize=13 if len(panels) == 1 else 11)
        axis.xaxis.set_minor_formatter(NullFormatter())
        axis.set_xlim(1, 1 / (1 - ticks[-1]))
        axis.yaxis.set_major_formatter(FuncFormatter(lambda v, _: time_text(v)))
        axis.set_ylabel("time of one operation")
        count = panel[1]
        axis.set_title(f"{panel[0]}, {count} thread{'s' if count > 1 else ''}")
    legend(figure, axes)
    return figure


def miss_ratio(rows, details):
    # What looks nothing up misses nothing.
    pairs = [(row, detail) for row, detail in zip(rows, details)
             if row["workload"] == "replay" and row["hitRatio"] is not None]
    if not pairs:
        return None
    def panel_of(row, detail):
        return row["trace"], detail.get("unit", "entries"), row.get("store") or "miss"

    panels = in_order(panel_of(row, detail) for row, detail in pairs)
    policies = in_order(row["policy"] for row, _ in pairs if row["implementation"] == "larder")
    figure, axes = grid(len(panels))
    for axis, panel in zip(axes, panels):
        curves = {}
        for row, detail in pairs:
            if panel_of(row, detail) == panel:
                key = (row["implementation"], row["policy"])
                curves.setdefault(key, []).append((row["capacity"], 1 - row["hitRatio"]))
        for (name, policy), points in curves.items():
            label, colour, width = TITLES.get(name, name), COLOURS.get(name), 2.2
            if name == "larder" and len(policies) > 1:
                label = policy
                colour = POLICY_COLOURS[policies.index(policy) % len(POLICY_COLOURS)]
                if policy == "adaptive":
                    colour, width = COLOURS["larder"], 3.6
            axis.plot(*zip(*sorted(points)), color=colour, label=label, linewidth=width,
                      marker="o", markersize=5, zorder=3 if width > 3 else 2)
        axis.set_xscale("log")
        axis.xaxis.set_major_formatter(FuncFormatter(lambda v, _: short(v)))
        axis.xaxis.set_minor_formatter(NullFormatter())
        axis.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{100 * v:.3g} %"))
        axis.set_title(panel[0] if panel[2] == "miss" else f"{panel[0]}, stores: {panel[2]}")
        unit = "bytes" if panel[1] == "bytes" else "entries"
        axis.set_xlabel(f"cache size, {unit}", fontsize=12)
    for axis in axes[:: max(1, figure.axes[0].get_gridspec().ncols)]:
        axis.set_ylabel("miss ratio")
    legend(figure, axes, columns=7)
    return figure


def lines(rows, workload, value, label, formatter, log):
    rows = [row for row in rows if row["workload"] == workload and row[value] is not None]
    if not rows:
        return None
    figure, (axis,) = grid(1)
    for name in in_order(row["implementation"] for row in rows):
        points = [(row["entries"], row[value]) for row in rows if row["implementation"] == name]
        axis.plot(*zip(*sorted(points)), color=COLOURS.get(name), label=TITLES.get(name, name),
                  marker="o", linewidth=3.6 if name == "larder" else 2.2,
                  zorder=3 if name == "larder" else 2)
    axis.set_xscale("log")
    if log:
        axis.set_yscale("log")
    else:
        axis.set_ylim(bottom=0)
    axis.xaxis.set_major_formatter(FuncFormatter(lambda v, _: short(v)))
    axis.yaxis.set_major_formatter(FuncFormatter(formatter))
    axis.set_xlabel("entries")
    axis.set_ylabel(label)
    axis.set_title(f"{rows[0]['keys']} keys, {rows[0]['values']} values")
    legend(figure, [axis])
    return figure


def pressure(rows, details):
    courses = [(row, detail) for row, detail in zip(rows, details) if detail.get("series")]
    if not courses:
        return None
    figure, (top, middle, bottom) = plt.subplots(
        3, 1, sharex=True, layout="constrained", height_ratios=(2, 2, 1))
    for row, detail in courses:
        answers = row["implementation"] == "larder"
        colour, name = (COLOURS["larder"], "gives way") if answers else ("#8d8d8d", "ignores it")
        times, hits, resident, neighbour, stalls = zip(*detail["series"])
        top.plot(times, [100 * hit for hit in hits], color=colour, label=f"the cache {name}")
        middle.plot(times, [size / 2**20 for size in resident], color=colour)
        middle.plot(times, [size / 2**20 for size in neighbour], color=colour, linestyle="dotted",
                    label=f"the neighbour, where the cache {name}")
        if None not in stalls:
            bottom.plot(times, stalls, color=colour)
        last = [other["end"] for at, other in zip(rows, details)
                if at["implementation"] == row["implementation"] and other.get("end")][-1]
        if "killed" in last:
            for axis, value in ((top, 100 * hits[-1]), (middle, resident[-1] / 2**20)):
                axis.plot([times[-1]], [value], "X", color=colour, markersize=12)
            top.annotate(last, (times[-1], 100 * hits[-1]), xytext=(10, -4),
                         textcoords="offset points", fontsize=12, color="#606060")
    top.set_ylim(0, 100)
    top.set_ylabel("hits, %")
    middle.set_ylim(bottom=0)
    middle.set_ylabel("resident, MB")
    bottom.set_ylim(bottom=0)
    bottom.set_ylabel("stalled, ms/s")
    bottom.set_xlabel("seconds")
    legend(figure, [top, middle], columns=2)
    return figure


def main():
    directory, kind, *paths = sys.argv[1:]
    rows, details, captions = [], [], []
    for path in paths:
        try:
            with open(path, encoding="utf-8") as file:
                header, *more = json.load(file)
            captions.append(f"{header['machine']} · {header['date'][:10]}")
            wanted = ("workload", "implementation", "nsPerOp", "mops", "hitRatio", "bytesPerEntry")
            if len(header["details"]) != len(more) or not all(
                    name in row for row in more for name in wanted):
                raise ValueError("rows that lack something")
            rows += more
            details += header["details"]
        except (OSError, ValueError, LookupError, TypeError):
            print(f"larder-bench: {path} is not a result file of larder-bench", file=sys.stderr)
            sys.exit(2)
    path, caption = paths[0], captions[0]
    pictures = {
        "overview": overview(rows),
        "throughput": throughput(rows),
        "latency": latency(rows, details),
        "miss-ratio": miss_ratio(rows, details),
        "pressure": pressure(rows, details),
        "growth": lines(rows, "growth", "nsPerOp", "time of one insertion",
                        lambda v, _: time_text(v), True),
        "memory": lines(rows, "memory", "bytesPerEntry", "bytes per entry, resident",
                        lambda v, _: f"{v:g}", False),
    }
    pictures = {name: figure for name, figure in pictures.items() if figure}
    if not pictures:
        print(f"larder-bench: {path} has no results to draw", file=sys.stderr)
        sys.exit(2)
    stem = os.path.splitext(os.path.basename(path))[0]
    for name, figure in pictures.items():
        figure.text(0.995, 0.992, caption, ha="right", va="top", fontsize=10, color="#808080")
        figure.get_layout_engine().set(rect=(0, 0, 1, 1 - 0.26 / figure.get_figheight()))
        target = os.path.join(directory, f"{stem}-{name}.{kind}")
        draft = f"{target}.part"
        figure.savefig(draft, format=kind)
        os.replace(draft, target)
        print(target)


main()
