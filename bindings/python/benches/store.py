#!/usr/bin/env python3
"""Compares regauge.Store with diskcache and sqlitedict, in one run.

    python3 bindings/python/benches/store.py [--rounds 7] [--values 400] [--folder /tmp]

Each library stores and fetches a value in its usual way: one call, one transaction. A round runs
each contender in turn; a row has the medians of wall-clock time (--cpu: CPU time of the process,
all threads, for a busy machine), and the ratio of the peer's to regauge's: above 1, regauge is
faster. Every value is compared before anything is timed.

diskcache syncs only at checkpoints (WAL, synchronous = NORMAL), like regauge with sync=False;
sqlitedict (journal, synchronous = FULL) syncs at each commit, like regauge by default. So each is
compared at the same durability, and the rows say which.

A get is timed twice: after a change, when each value comes from the file, and again, when nothing
has changed since it was read, which regauge notices and diskcache and sqlitedict do not.
"""

import argparse
import importlib.metadata
import itertools
import json
import pathlib
import platform
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time

import regauge

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "benches"))

from record import record, versions  # noqa: E402

DATA = ROOT / "build" / "data"
GOAL = 3.0


def documents():
    """Returns documents of 1 KB and of 14 KB, measured as JSON: orders, and a slice of readings."""
    order = {
        "id": 70017, "state": "paid", "customer": {"name": "Ada Lovelace", "mail": "ada@example.org"},
        "lines": [{"sku": f"SKU-{number:05}", "count": number + 1, "price": 12.5 + number,
                   "title": "A thing that one may order"} for number in range(9)],
        "note": None, "express": True,
    }
    slice_of_time = {
        "station": "north-7", "from": "2026-11-21T00:00:00Z",
        "readings": [[1795219200 + 60 * number, round(7 + number * 0.013, 3), number % 7, "ok"]
                     for number in range(440)],
    }
    for value in (order, slice_of_time):
        size = len(json.dumps(value, separators=(",", ":")))
        yield f"{size / 1000:.0f} KB", value


class Regauge:
    """Opens a store with the same durability as its peer."""

    def __init__(self, folder, sync, codec="msgpack"):
        self.store = regauge.Store(f"sqlite:{folder}/r.db", codec=codec, sync=sync)

    def put(self, key, value):
        self.store[key] = value

    def get(self, key):
        return self.store[key]

    def bulk(self, items):
        self.store.put_many(items)


class Diskcache:
    def __init__(self, folder):
        import diskcache

        self.store = diskcache.Cache(f"{folder}/d")

    def put(self, key, value):
        self.store[key] = value

    def get(self, key):
        return self.store[key]

    def bulk(self, items):
        with self.store.transact():
            for key, value in items:
                self.store[key] = value


class Sqlitedict:
    def __init__(self, folder):
        import sqlitedict

        self.store = sqlitedict.SqliteDict(f"{folder}/s.db", outer_stack=False)

    def put(self, key, value):
        self.store[key] = value
        self.store.commit()

    def get(self, key):
        return self.store[key]

    def bulk(self, items):
        for key, value in items:
            self.store[key] = value
        self.store.commit()


class Face:
    """regauge's cache with diskcache's interface."""

    def __init__(self, folder):
        from regauge.compat.diskcache import Cache

        self.store = Cache(f"{folder}/f")

    def put(self, key, value):
        self.store[key] = value

    def get(self, key):
        return self.store[key]

    def bulk(self, items):
        for key, value in items:
            self.store[key] = value


def change(contender, number):
    """Commits something new, which invalidates what a store has cached in memory.

    SQLite writes nothing if the bytes are the same.
    """
    contender.put("changed", number)


def once(function, keys, clock):
    """Returns microseconds per call."""
    before = clock()
    for key in keys:
        function(key)
    return (clock() - before) / 1000 / len(keys)


def race(row, contenders, keys, rounds, act, clock, before=lambda contender: None):
    """Prints a row; the first contender is regauge.

    `before` is called with a contender before each of its turns, outside the timing.
    """
    times = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, contender in contenders.items():
            before(contender)
            times[name].append(once(lambda key, one=contender: act(one, key), keys, clock))
    for name, taken in times.items():
        record("store", row, name, taken, unit="us", goal=GOAL)
    medians = {name: statistics.median(taken) for name, taken in times.items()}
    ours, *others = medians
    ratio = {name: medians[name] / medians[ours] for name in others}
    shown = "  ".join(f"{name} {medians[name]:.1f} us, {ratio[name]:.2f}x" for name in others)
    short = "" if min(ratio.values()) >= GOAL else "  short"
    print(f"{row:60} {ours} {medians[ours]:7.1f} us  {shown}{short}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--values", type=int, default=400)
    parser.add_argument("--folder", default=None, help="where the databases are; else a temporary folder")
    parser.add_argument("--cpu", action="store_true", help="the time of the process, not that on the clock")
    arguments = parser.parse_args()
    clock = time.process_time_ns if arguments.cpu else time.perf_counter_ns
    folder = pathlib.Path(tempfile.mkdtemp(dir=arguments.folder))
    used = {"regauge": regauge.__version__, "SQLite (peers)": sqlite3.sqlite_version}
    for name in ("diskcache", "sqlitedict"):
        try:
            used[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            sys.exit(f"{name} is not installed")
    keys = [f"key/{number:06}" for number in range(arguments.values)]
    try:
        for size, value in documents():
            place = folder / size.replace(" ", "")
            place.mkdir()
            relaxed = {"regauge": Regauge(place, sync=False), "diskcache": Diskcache(place)}
            (place / "synced").mkdir()
            synced = {"regauge": Regauge(place / "synced", sync=True), "sqlitedict": Sqlitedict(place)}
            face = {"regauge's Cache": Face(place), "diskcache": relaxed["diskcache"]}
            for one in [*relaxed.values(), *synced.values(), *face.values()]:
                one.put("probe", value)
                if one.get("probe") != value:
                    sys.exit(f"{type(one).__name__} gives another value back")
            rounds = arguments.rounds
            rows = [("sync at checkpoints", relaxed), ("sync at each change", synced),
                    ("Cache, pickle", face)]
            items = [(key, value) for key in keys]
            numbers = itertools.count()
            for label, contenders in rows:
                few = keys[:100] if "each change" in label else keys
                race(f"put {size}, {label}", contenders, few, rounds,
                     lambda one, key: one.put(key, value), clock)
                for one in contenders.values():
                    one.bulk(items)
                race(f"get {size} after a change, {label}", contenders, keys, rounds,
                     lambda one, key: one.get(key), clock,
                     lambda one: change(one, next(numbers)))
                race(f"get {size} again, {label}", contenders, keys, rounds,
                     lambda one, key: one.get(key), clock)
                if label != "Cache, pickle":
                    race(f"put {len(items)} of {size} in one, {label}", contenders, ["all"], rounds,
                         lambda one, _: one.bulk(items), clock)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    versions(CPython=platform.python_version(), **used)
    print("; ".join(f"{name} {version}" for name, version in used.items()), "; CPython",
          platform.python_version())


if __name__ == "__main__":
    main()
