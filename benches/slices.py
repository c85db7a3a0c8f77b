#!/usr/bin/env python3
"""Batches of 500 slices of 14 KB, fetched and decoded: regauge's store beside drivers of Python.

    cargo build --profile fast -p regauge-store --features cassandra --example slices
    python3 tools/servers.py run --only cassandra -- python3 benches/slices.py

Both read the same bytes of MessagePack from the same engine: Python's sqlite3 or cassandra-driver
with msgpack into dicts and lists, the store into its own values. The rounds take turns; what counts
is the ratio of the medians. Cassandra is measured where REGAUGE_TEST_CASSANDRA gives its URL.
Needs msgpack, and cassandra-driver for Cassandra.
"""

import argparse
import json
import os
import random
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgpack

ROOT = Path(__file__).resolve().parent.parent


class Store:
    """The store, in a process of its own that says how long it took."""

    def __init__(self, program, url):
        self.process = subprocess.Popen([program, url, "slices"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit("the store's process has ended")
        return [int(word) for word in answer.split()]

    def put(self, folder):
        self.ask(f"put {folder}")

    def get(self, count):
        nanoseconds, values = self.ask(f"get {count}")
        return nanoseconds / 1e9, values


class Sqlite:
    """Python's own sqlite3 with msgpack."""

    def __init__(self, path):
        self.connection = sqlite3.connect(path)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute("CREATE TABLE slices (time INTEGER PRIMARY KEY, slice BLOB)")

    def put(self, slices):
        with self.connection:
            self.connection.executemany("INSERT INTO slices VALUES (?, ?)", enumerate(slices))

    def get(self, count):
        began = time.perf_counter()
        rows = self.connection.execute(
            "SELECT time, slice FROM slices ORDER BY time DESC LIMIT ?", (count,))
        found = [(at, msgpack.unpackb(one)) for at, one in rows]
        return time.perf_counter() - began, found


class Cassandra:
    """cassandra-driver with msgpack: one partition, one prepared statement, one page."""

    def __init__(self, url):
        from cassandra.cluster import Cluster
        from cassandra.policies import WhiteListRoundRobinPolicy

        host, port = re.match(r"cassandra://(?:.*@)?([^:/]+):(\d+)/", url).groups()
        self.session = Cluster(
            [host], port=int(port),
            load_balancing_policy=WhiteListRoundRobinPolicy([host])).connect()
        self.session.execute(
            "CREATE KEYSPACE IF NOT EXISTS python WITH replication = "
            "{'class': 'SimpleStrategy', 'replication_factor': 1}")
        self.session.execute("DROP TABLE IF EXISTS python.slices")
        self.session.execute(
            "CREATE TABLE python.slices (series text, day bigint, time bigint, slice blob, "
            "PRIMARY KEY ((series, day), time))")
        self.insert = self.session.prepare(
            "INSERT INTO python.slices (series, day, time, slice) VALUES (?, ?, ?, ?)")
        self.select = self.session.prepare(
            "SELECT time, slice FROM python.slices WHERE series = ? AND day = ? "
            "ORDER BY time DESC LIMIT ?")

    def put(self, slices):
        for at, one in enumerate(slices):
            self.session.execute(self.insert, ("s", 0, at, one))

    def get(self, count):
        began = time.perf_counter()
        rows = self.session.execute(self.select, ("s", 0, count))
        found = [(row.time, msgpack.unpackb(row.slice)) for row in rows]
        return time.perf_counter() - began, found


def count(value):
    if isinstance(value, dict):
        return 1 + sum(count(one) for pair in value.items() for one in pair)
    if isinstance(value, list):
        return 1 + sum(count(one) for one in value)
    return 1


def changed(value, rng):
    """The same shape with other numbers."""
    if isinstance(value, dict):
        return {key: changed(one, rng) for key, one in value.items()}
    if isinstance(value, list):
        return [changed(one, rng) for one in value]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    return type(value)(value * (0.5 + rng.random()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default=ROOT / "target/fast/examples/slices")
    parser.add_argument("--sample", help="a JSON file of one slice", required=True)
    parser.add_argument("--slices", type=int, default=2_000)
    parser.add_argument("--batch", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=21)
    arguments = parser.parse_args()
    sample = json.loads(Path(arguments.sample).read_text())
    rng = random.Random(7)
    slices = [msgpack.packb(changed(sample, rng)) for _ in range(arguments.slices)]
    size = statistics.mean(map(len, slices))
    print(f"{arguments.batch} slices of {size:,.0f} bytes a batch, {arguments.rounds} rounds")
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        files = folder / "slices"
        files.mkdir()
        for number, one in enumerate(slices):
            (files / f"{number:06}").write_bytes(one)
        pairs = [("SQLite", Sqlite(folder / "python.db"), f"sqlite:{folder / 'store.db'}")]
        cassandra = os.environ.get("REGAUGE_TEST_CASSANDRA")
        if cassandra:
            url = cassandra.replace("/regauge?", "/slices?")
            pairs.append(("Cassandra", Cassandra(url), url))
        else:
            print("skipped: Cassandra, REGAUGE_TEST_CASSANDRA is not set")
        for name, python, url in pairs:
            store = Store(arguments.program, url)
            python.put(slices)
            store.put(files)
            ours, theirs = [], []
            for round_ in range(arguments.rounds + 2):
                took, found = python.get(arguments.batch)
                mine, values = store.get(arguments.batch)
                if round_ == 0:
                    # The same slices, decoded whole, or nothing is said of speed.
                    expected = sum(count(one) for _, one in found)
                    assert len(found) == arguments.batch and values == expected
                if round_ >= 2:
                    ours.append(mine)
                    theirs.append(took)
            ours, theirs = statistics.median(ours), statistics.median(theirs)
            print(f"{name}: regauge {ours * 1e3:.1f} ms, Python {theirs * 1e3:.1f} ms, "
                  f"{theirs / ours:.2f}x")


if __name__ == "__main__":
    main()
