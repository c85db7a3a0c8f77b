"""Checks that `regauge measure` gives a decisive, correct answer in time, on five kinds of data.

    python3 tools/answer_check.py --regauge target/demo/regauge --dir build/contenders

Creates the documents, measures each, and prints a table of: the time it took, how many libraries
were found, timed and usual, which runtimes have a winner, and the precision of the first three of
each runtime: half the width of the interval of their ratio to the best.

    --quick           also with --quick, which may take 15 s
    --busy            also while another process keeps one core busy
    --repeat N        measures each document N times, and reports how much the ratios of the first
                      three varied between runs, and in how many pairs of runs a row's intervals
                      overlap
    --budgets 5,20    runs with these budgets, which must end within 3 s of them
    --large           also a JSON array of 40 MB
    --only KIND       legislators, types, yaml, marc, msgpack or large; repeatable

The exit status is 0 if everything meets its target: 60 s (90 with JRuby), 15 s, every runtime decided, the
first three within 5% (10% while a core is busy).
"""

import argparse
import contextlib
import itertools
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

FRONT = 3


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--regauge", default="target/demo/regauge")
    parser.add_argument("--dir", default="build/contenders")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--budgets", default="")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--keep", help="a folder to keep documents and reports in")
    return parser.parse_args()


def make(regauge, folder, large):
    """Creates the documents, by kind."""
    run = lambda *words: subprocess.run([regauge, *words], check=True, stdout=subprocess.DEVNULL)
    files = {
        "legislators": folder / "legislators.json",
        "types": folder / "types.ndjson",
        "yaml": folder / "legislators.yaml",
        "marc": folder / "catalog.mrc",
        "msgpack": folder / "time-slice.msgpack",
    }
    run("sample", "legislators", str(files["legislators"]), "--force")
    run("sample", "types", str(files["types"]), "--count", "400", "--force")
    run("convert", str(files["legislators"]), str(files["yaml"]), "--force")
    run("sample", "catalog", str(files["marc"]), "--count", "300", "--force")
    run("sample", "time-slice", str(files["msgpack"]), "--force")
    if large:
        files["large"] = folder / "large.json"
        one = json.loads(files["legislators"].read_text())
        items = one if isinstance(one, list) else [one]
        with open(files["large"], "w", encoding="utf-8") as out:
            out.write("[")
            size = number = 0
            while size < 40_000_000:
                item = dict(items[number % len(items)], serial=number)
                text = ("," if number else "") + json.dumps(item, ensure_ascii=False)
                size += out.write(text)
                number += 1
            out.write("]")
    return files


@contextlib.contextmanager
def busy_core(is_busy):
    """Keeps one core busy while the block runs."""
    if not is_busy:
        yield
        return
    process = subprocess.Popen([sys.executable, "-c", "while True: sum(range(10000))"])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def measure(options, file, report, *words):
    """Returns the report, and the seconds that the command took."""
    command = [options.regauge, "measure", str(file), "--dir", options.dir, "--progress", "never"]
    command += ["--json", str(report), "--force", *words]
    began = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    took = time.monotonic() - began
    return json.loads(report.read_text()), took


def spread(estimate):
    if estimate.get("too_few"):
        return None
    return (estimate["high"] - estimate["low"]) / 2 / estimate["median"]


def front(report):
    """Returns the first rows of each runtime's plain values after the best, with their ratios."""
    groups = {}
    for row in report["rows"]:
        if row["timing"] and row["gives"] == "data":
            groups.setdefault(row["runtime"], []).append(row)
    first = {}
    for runtime, rows in groups.items():
        for row in rows[:FRONT]:
            first[runtime, row["contender"]] = row["timing"]["ratio"]
    return first


def answer(report, took, target):
    """Summarises a report as a line of the table."""
    wanted = [one for one in report["verdict"]["fields"] if one["gives"] == "data"]
    decided = [
        one["runtime"]
        for one in wanted
        if one["usual_timed"] == one["usual"] and one["timed"] > 0
    ]
    spreads = {name: spread(ratio) for name, ratio in front(report).items()}
    known = [one for one in spreads.values() if one is not None]
    rank = lambda name: 9 if spreads[name] is None else spreads[name]
    worst = max(spreads, key=rank) if spreads else ("nothing", "was timed")
    noise = report.get("noise") or {}
    return {
        "took": took,
        "target": target,
        "found": sum(one["found"] for one in wanted),
        "timed": sum(one["timed"] for one in wanted),
        "usual": sum(one["usual"] for one in wanted),
        "usual_timed": sum(one["usual_timed"] for one in wanted),
        "runtimes": len(wanted),
        "decided": len(decided),
        "open": [one["runtime"] for one in wanted if one["runtime"] not in decided],
        "worst": max(known) if known and len(known) == len(spreads) else None,
        "worst_name": " ".join(worst),
        "median": statistics.median(known) if known else None,
        "quiet": noise.get("quiet_share"),
    }


def percent(share):
    return "too few" if share is None else f"±{100 * share:.1f}%"


def overlaps(reports):
    """Returns the share of pairs of runs in which a row's intervals overlap, over all rows."""
    agreed = pairs = 0
    for one, other in itertools.combinations(reports, 2):
        rows = {(row["runtime"], row["contender"]): row for row in other["rows"] if row["timing"]}
        for row in one["rows"]:
            twin = rows.get((row["runtime"], row["contender"]))
            if not row["timing"] or not twin:
                continue
            a, b = row["timing"]["ratio"], twin["timing"]["ratio"]
            if a.get("too_few") or b.get("too_few"):
                continue
            pairs += 1
            agreed += a["low"] <= b["high"] and b["low"] <= a["high"]
    return agreed / pairs if pairs else None


def moved(reports):
    """Returns how much a top row's ratio varied between two runs, at most and at the median."""
    moves = []
    for one, other in itertools.combinations(reports, 2):
        first, second = front(one), front(other)
        for name in first.keys() & second.keys():
            moves.append(abs(first[name]["median"] / second[name]["median"] - 1) / 2)
    return (max(moves), statistics.median(moves)) if moves else (None, None)


def main():
    options = arguments()
    keep = pathlib.Path(options.keep) if options.keep else pathlib.Path(tempfile.mkdtemp())
    keep.mkdir(parents=True, exist_ok=True)
    files = make(options.regauge, keep, options.large)
    if options.only:
        files = {kind: file for kind, file in files.items() if kind in options.only}
    kinds_of_run = [("default", [], 60.0, False)]
    if options.quick:
        kinds_of_run.append(("quick", ["--quick"], 15.0, False))
    if options.busy:
        kinds_of_run.append(("busy core", [], 60.0, True))
    for budget in filter(None, options.budgets.split(",")):
        kinds_of_run.append((f"budget {budget}", ["--budget", budget], float(budget) + 3, False))
    fine = True
    print(
        f"{'document':12} {'run':10} {'time':>7} {'timed':>8} {'usual':>8} {'decided':>8} "
        f"{'first three':>12} {'at median':>9} {'quiet':>6}"
    )
    for kind, file in files.items():
        for name, words, most, is_busy in kinds_of_run:
            reports = []
            for number in range(options.repeat):
                report = keep / f"{kind}-{name.replace(' ', '-')}-{number}.json"
                with busy_core(is_busy):
                    told, took = measure(options, file, report, "--seed", str(number), *words)
                reports.append(told)
                # JRuby takes seconds to start.
                slow = any(one["runtime"] == "jruby" for one in told["verdict"]["fields"])
                target = most + 30 * (slow and name in ("default", "busy core"))
                line = answer(told, took, target)
                quiet = "" if line["quiet"] is None else f"{100 * line['quiet']:.0f}%"
                limit = 0.10 if is_busy else 0.05
                problems = []
                if took > target:
                    problems.append(f"over {target:.0f} s")
                if line["open"]:
                    problems.append("no winner for " + ", ".join(line["open"]))
                if name in ("default", "busy core") and (
                    line["worst"] is None or line["worst"] > limit
                ):
                    problems.append(f"{line['worst_name']} exceeds ±{100 * limit:.0f}%")
                if name in ("default", "busy core") and line["timed"] < line["found"]:
                    names = [
                        f"{one['contender']} ({one['why']})"
                        for field in told["verdict"]["fields"]
                        for one in field["not_timed"]
                        if not one["is_ruled_out"]
                    ]
                    if names:
                        problems.append("not timed: " + ", ".join(names[:4]))
                fine &= not problems or name.startswith("budget") and took <= target
                print(
                    f"{kind:12} {name:10} {took:6.1f}s {line['timed']:>3}/{line['found']:<4} "
                    f"{line['usual_timed']:>3}/{line['usual']:<4} "
                    f"{line['decided']:>4}/{line['runtimes']:<3} {percent(line['worst']):>12} "
                    f"{percent(line['median']):>9} {quiet:>6}  {'; '.join(problems)}",
                    flush=True,
                )
            if len(reports) > 1:
                far, middle = moved(reports)
                share = overlaps(reports)
                print(
                    f"{'':12} between {len(reports)} runs, ratios of the first three moved "
                    f"{percent(far)} at most, {percent(middle)} at the median; intervals overlap "
                    f"in {100 * (share or 0):.1f}% of pairs of rows"
                )
                fine &= share is not None and share >= 0.95
    print("all targets met" if fine else "some targets missed")
    sys.exit(not fine)


main()
