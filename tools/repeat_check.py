"""Checks that repeated runs of `regauge measure` agree within their intervals.

    python3 tools/repeat_check.py FILE --regauge target/release/regauge --runs 10 -- --only json

Runs the same measurement several times and compares every pair of runs, row by row, decoding and
encoding each: how often the two 95% intervals overlap, and how often the median of one is in the
interval of the other. Two honest intervals of unequal runs overlap in more than 95% of cases; the
median of one is another estimate rather than a true value, so it is in the other less often. Exits
with 0 if intervals overlap in at least 95 pairs of 100. Estimates with too few samples for an
interval are skipped.

Everything after `--` is passed on.
"""

import argparse
import collections
import itertools
import json
import os
import subprocess
import sys
import tempfile


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--regauge", default="target/release/regauge")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--least", type=float, default=0.95, help="share of pairs that must agree")
    parser.add_argument("--keep", help="a folder to keep the JSON of each run in")
    own, rest = sys.argv[1:], []
    if "--" in own:
        place = own.index("--")
        own, rest = own[:place], own[place + 1 :]
    return parser.parse_args(own), rest


def measure(options, rest, folder, number):
    path = os.path.join(folder, f"{number}.json")
    command = [options.regauge, "measure", options.file, "--json", path, "--force"]
    command += ["--progress", "never", "--seed", str(number), *rest]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def series(report):
    """Returns each timed row's estimates, by name."""
    for row in report["rows"]:
        if row["timing"]:
            for part in ("decode", "encode"):
                name = f"{row['contender']} ({row['runtime']}, {row['gives']}) {part}"
                estimate = row["timing"][part]["estimate_ns"]
                if not estimate.get("too_few"):
                    yield name, estimate


def main():
    options, rest = arguments()
    folder = options.keep or tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    runs = []
    for number in range(1, options.runs + 1):
        report = measure(options, rest, folder, number)
        quiet = (report["noise"] or {}).get("quiet_share") or 0.0
        took = report["method"]["took_s"]
        print(f"run {number}: {took:.0f} s, {100 * quiet:.0f}% of the samples were quiet", flush=True)
        runs.append(dict(series(report)))
    tally = collections.defaultdict(lambda: [0, 0, 0])
    widths = collections.defaultdict(list)
    for one, other in itertools.combinations(runs, 2):
        for name in one.keys() & other.keys():
            this, that = one[name], other[name]
            tally[name][0] += 1
            tally[name][1] += this["low"] <= that["high"] and that["low"] <= this["high"]
            tally[name][2] += that["low"] <= this["median"] <= that["high"]
    for run in runs:
        for name, estimate in run.items():
            widths[name].append((estimate["high"] - estimate["low"]) / 2 / estimate["median"])
    pairs, overlap, inside = (sum(row[column] for row in tally.values()) for column in range(3))
    if pairs == 0:
        sys.exit("fewer than two runs have times: nothing to compare")
    print(f"{'row':60} {'overlap':>8} {'median in':>10} {'± interval':>11}")
    for name, (count, overlaps, insides) in sorted(tally.items()):
        middle = sorted(widths[name])[len(widths[name]) // 2]
        print(f"{name:60} {overlaps / count:8.0%} {insides / count:10.0%} {middle:11.1%}")
    print(f"all: {pairs} pairs; intervals overlap in {overlap / pairs:.1%}, "
          f"the median lies in the other's interval in {inside / pairs:.1%}")
    short = [name for name, row in tally.items() if row[1] / row[0] < options.least]
    print(f"rows that overlap in less than {options.least:.0%} of their pairs: {len(short)} of {len(tally)}")
    sys.exit(0 if overlap / pairs >= options.least else 1)


if __name__ == "__main__":
    main()
