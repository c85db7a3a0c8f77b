#!/usr/bin/env python3
"""Batches of 500 slices of 14 KB, fetched from SQLite and decoded to Python objects: regauge's
package compared with Python's own sqlite3 plus msgpack.

    PYTHONPATH=bindings/python/python python3 benches/slices.py

Both build the same dicts and lists in the same thread; `regauge.Store` also verifies the checksum
of every value. With `--codec msgpack+zstd` (repeatable) the store keeps the documents compressed;
the driver has them uncompressed. The batches are compared before anything is timed. The rounds
alternate; the figure is the ratio of the medians of wall-clock time. SQLite is the engine that the
wheel and the gem include; `bindings/ruby/benches/slices.rb` is the same in Ruby.
"""

import argparse
import importlib.metadata
import json
import platform
import random
import sqlite3
import statistics
import sys
import tempfile
import time
from pathlib import Path

import msgpack
import regauge

from record import record, versions

SECOND = 1_000_000_000


class Store:
    """A series in regauge's store: a slice per second."""

    def __init__(self, url, codec):
        self.store = regauge.Store(url, "slices_" + codec.replace("+", "_"), codec=codec)
        self.series = self.store.series("s")

    def put(self, slices):
        for first in range(0, len(slices), 100):
            part = slices[first:first + 100]
            self.series.put_many((at * SECOND, one) for at, one in enumerate(part, first))

    def fetch(self, first):
        """Returns the seconds for the newest batch, down to the slice `first`, and the batch."""
        began = time.perf_counter()
        found = [value for _, value in self.series.scan(from_=first * SECOND, reverse=True)]
        return time.perf_counter() - began, found


class Sqlite:
    """Python's own sqlite3."""

    def __init__(self, path):
        self.connection = sqlite3.connect(path)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute("CREATE TABLE slices (time INTEGER PRIMARY KEY, slice BLOB)")

    def put(self, slices):
        with self.connection:
            self.connection.executemany("INSERT INTO slices VALUES (?, ?)", enumerate(slices))

    def rows(self, count):
        return self.connection.execute(
            "SELECT time, slice FROM slices ORDER BY time DESC LIMIT ?", (count,))


def fetch(python, count):
    """Returns the seconds that the driver takes for a batch, and the batch."""
    began = time.perf_counter()
    found = [msgpack.unpackb(one) for _, one in python.rows(count)]
    return time.perf_counter() - began, found


def made_up(number, rng):
    """Returns a slice like those of `regauge sample time-slice`: a point per minute, five keys."""
    points = [{
        "timestamp": 1_325_376_000 + 60 * (155 * number + minute),
        "active_users": rng.randint(10, 99),
        "request_rate": rng.randint(100, 999) + 0.1 * rng.randint(1, 9),
        "mean_latency_ms": rng.randint(10, 99) + 0.01 * rng.randint(1, 99),
        "state": rng.choice(["normal", "normal", "loaded", "paused"]),
    } for minute in range(155)]
    return {"account_id": rng.randint(10_000, 99_999), "series": "storage.sessions",
            "resolution": 60, "complete": True, "points": points}


def changed(value, rng):
    """Returns the same shape with different numbers."""
    if isinstance(value, dict):
        return {key: changed(one, rng) for key, one in value.items()}
    if isinstance(value, list):
        return [changed(one, rng) for one in value]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    return type(value)(value * (0.5 + rng.random()))


def measure(python, stores, slices, batch, rounds):
    """Prints and saves the rows."""
    python.put([msgpack.packb(one) for one in slices])
    for store in stores.values():
        store.put(slices)
    times = {"driver": [], **{codec: [] for codec in stores}}
    for round_ in range(rounds + 2):
        took, expected = fetch(python, batch)
        if round_ >= 2:
            times["driver"].append(took)
        for codec, store in stores.items():
            took, found = store.fetch(len(slices) - batch)
            if round_ == 0 and (found != expected or len(found) != batch):
                sys.exit(f"{codec}: other slices than the driver's")
            if round_ >= 2:
                times[codec].append(took)
    for codec in stores:
        record(codec, "Python, sqlite3", "regauge", times[codec], size=batch)
        record(codec, "Python, sqlite3", "driver", times["driver"], size=batch)
        ratios = [theirs / ours for theirs, ours in zip(times["driver"], times[codec])]
        ours, theirs = statistics.median(times[codec]), statistics.median(times["driver"])
        print(f"{codec}: regauge {ours * 1e3:.1f} ms, driver {theirs * 1e3:.1f} ms, "
              f"{theirs / ours:.2f}x ({min(ratios):.2f} to {max(ratios):.2f})", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--sample", help="a JSON file of one slice, in place of made-up ones")
    parser.add_argument("--slices", type=int, default=2_000)
    parser.add_argument("--batch", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--codec", action="append",
                        help="what the store keeps the slices in: msgpack if nothing is said")
    arguments = parser.parse_args()
    rng = random.Random(7)
    if arguments.sample:
        sample = json.loads(Path(arguments.sample).read_text())
        slices = [changed(sample, rng) for _ in range(arguments.slices)]
    else:
        slices = [made_up(number, rng) for number in range(arguments.slices)]
    size = statistics.mean(len(msgpack.packb(one)) for one in slices)
    print(f"{arguments.batch} slices of {size:,.0f} bytes a batch, {arguments.rounds} rounds")
    versions(CPython=platform.python_version(), regauge=regauge.__version__, SQLite=sqlite3.sqlite_version,
             msgpack=importlib.metadata.version("msgpack"))
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        stores = {codec: Store(f"sqlite:{folder / 'store.db'}", codec) for codec in arguments.codec or ["msgpack"]}
        measure(Sqlite(folder / "python.db"), stores, slices, arguments.batch, arguments.rounds)


if __name__ == "__main__":
    main()
