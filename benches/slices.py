#!/usr/bin/env python3
"""Batches of 500 slices of 14 KB, fetched and decoded: regauge's store beside drivers of Python.

    cargo build --profile fast -p regauge-store --features servers --example slices
    python3 tools/servers.py run -- python3 benches/slices.py

Both read the same bytes of MessagePack from the same engine: the engine's driver for Python, with
msgpack, into dicts and lists; the store into tapes, which can be looked up but not changed, checksums
looked at, by as many threads as there are cores (`--cores 1`: by one), with mimalloc as its allocator. With
`--codec msgpack+zstd` (again and again for more) the store keeps the same documents compressed. The rounds
take turns; what counts is the ratio of the medians. A server is measured where tools/servers.py or the environment gives its URL
(REGAUGE_TEST_POSTGRES, …). Needs msgpack, and of psycopg[binary], mysqlclient
(Debian: python3-mysqldb), pymongo and cassandra-driver those whose servers are there.
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
from urllib.parse import urlsplit

import msgpack

ROOT = Path(__file__).resolve().parent.parent


class Store:
    """The store, in a process of its own that says how long it took."""

    def __init__(self, program, url, codec, cores):
        command = [program, url, "slices_" + codec.replace("+", "_"), codec]
        if cores:
            command = ["taskset", "-c", ",".join(map(str, range(cores))), *command]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)

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

    def remove(self):
        self.ask("remove")
        self.process.stdin.close()
        self.process.wait()


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

    def remove(self):
        self.connection.close()


class Postgres:
    """psycopg 3 with its part in C, a prepared statement, and values in binary."""

    def __init__(self, url):
        import psycopg

        self.connection = psycopg.connect(url, autocommit=True, prepare_threshold=0)
        self.cursor = self.connection.cursor(binary=True)
        self.cursor.execute("DROP TABLE IF EXISTS python_slices")
        self.cursor.execute("CREATE TABLE python_slices (time bigint PRIMARY KEY, slice bytea)")
        self.cursor.execute("ALTER TABLE python_slices ALTER COLUMN slice SET STORAGE EXTERNAL")

    def put(self, slices):
        self.cursor.executemany("INSERT INTO python_slices VALUES (%s, %s)", enumerate(slices))

    def rows(self, count):
        return self.cursor.execute(
            "SELECT time, slice FROM python_slices ORDER BY time DESC LIMIT %s", (count,))

    def remove(self):
        self.cursor.execute("DROP TABLE python_slices")
        self.connection.close()


class MySql:
    """mysqlclient, which is MariaDB's or MySQL's own library in C."""

    def __init__(self, url):
        import MySQLdb

        place = urlsplit(url)
        self.connection = MySQLdb.connect(
            host=place.hostname, port=place.port or 3306, user=place.username,
            password=place.password, database=place.path.strip("/"), autocommit=True)
        self.cursor = self.connection.cursor()
        self.cursor.execute("DROP TABLE IF EXISTS python_slices")
        self.cursor.execute("CREATE TABLE python_slices (time bigint PRIMARY KEY, slice longblob)")

    def put(self, slices):
        for at, one in enumerate(slices):
            self.cursor.execute("INSERT INTO python_slices VALUES (%s, %s)", (at, one))

    def rows(self, count):
        self.cursor.execute(
            "SELECT time, slice FROM python_slices ORDER BY time DESC LIMIT %s", (count,))
        return self.cursor.fetchall()

    def remove(self):
        self.cursor.execute("DROP TABLE python_slices")
        self.connection.close()


class MongoDb:
    """pymongo, which decodes BSON in C."""

    def __init__(self, url):
        import pymongo

        self.client = pymongo.MongoClient(url)
        self.slices = self.client.get_default_database()["python_slices"]
        self.slices.drop()

    def put(self, slices):
        for first in range(0, len(slices), 100):
            part = enumerate(slices[first:first + 100], first)
            self.slices.insert_many({"_id": at, "slice": one} for at, one in part)

    def rows(self, count):
        found = self.slices.find().sort("_id", -1).limit(count)
        return ((one["_id"], one["slice"]) for one in found)

    def remove(self):
        self.slices.drop()
        self.client.close()


class Cassandra:
    """cassandra-driver: one partition, one prepared statement, one page."""

    def __init__(self, url):
        from cassandra.cluster import Cluster
        from cassandra.policies import WhiteListRoundRobinPolicy

        host, port = re.match(r"cassandra://(?:.*@)?([^:/]+):(\d+)/", url).groups()
        self.cluster = Cluster(
            [host], port=int(port),
            load_balancing_policy=WhiteListRoundRobinPolicy([host]))
        self.session = self.cluster.connect()
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

    def rows(self, count):
        return self.session.execute(self.select, ("s", 0, count))

    def remove(self):
        self.session.execute("DROP KEYSPACE python")
        self.cluster.shutdown()


# What a server is called, where its URL is, and its driver.
SERVERS = [
    ("PostgreSQL", "REGAUGE_TEST_POSTGRES", Postgres),
    ("MariaDB or MySQL", "REGAUGE_TEST_MYSQL", MySql),
    ("FerretDB or MongoDB", "REGAUGE_TEST_MONGODB", MongoDb),
    ("Cassandra", "REGAUGE_TEST_CASSANDRA", Cassandra),
]


def fetch(python, count):
    """The seconds that Python takes for a batch, and the batch."""
    began = time.perf_counter()
    found = [(at, msgpack.unpackb(one)) for at, one in python.rows(count)]
    return time.perf_counter() - began, found


def number_of_values(value):
    if isinstance(value, dict):
        return 1 + sum(number_of_values(one) for pair in value.items() for one in pair)
    if isinstance(value, list):
        return 1 + sum(number_of_values(one) for one in value)
    return 1


def made_up(number, rng):
    """A slice as `regauge sample time-slice` makes them: a point a minute, five keys each."""
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
    """The same shape with other numbers."""
    if isinstance(value, dict):
        return {key: changed(one, rng) for key, one in value.items()}
    if isinstance(value, list):
        return [changed(one, rng) for one in value]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    return type(value)(value * (0.5 + rng.random()))


def pairs_of(arguments, folder):
    """Each engine that is there: its name, the driver at work, and the URL for the store."""
    if not arguments.only or "sqlite" in arguments.only:
        yield "SQLite", Sqlite(folder / "python.db"), f"sqlite:{folder / 'store.db'}"
    for name, variable, driver in SERVERS:
        if arguments.only and not any(one in variable.lower() for one in arguments.only):
            continue
        url = os.environ.get(variable)
        if not url:
            print(f"skipped: {name}, {variable} is not set")
            continue
        try:
            yield name, driver(url), url
        except ImportError as error:
            print(f"skipped: {name}, {error}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default=ROOT / "target/fast/examples/slices")
    parser.add_argument("--sample", help="a JSON file of one slice, in place of made-up ones")
    parser.add_argument("--slices", type=int, default=2_000)
    parser.add_argument("--batch", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--cores", type=int, help="let the store have no more cores than this")
    parser.add_argument("--codec", action="append",
                        help="what the store keeps the slices in: msgpack if nothing is said")
    parser.add_argument("--only", action="append", default=[],
                        choices=["sqlite", "postgres", "mysql", "mongodb", "cassandra"])
    arguments = parser.parse_args()
    rng = random.Random(7)
    if arguments.sample:
        sample = json.loads(Path(arguments.sample).read_text())
        slices = [msgpack.packb(changed(sample, rng)) for _ in range(arguments.slices)]
    else:
        slices = [msgpack.packb(made_up(number, rng)) for number in range(arguments.slices)]
    size = statistics.mean(map(len, slices))
    print(f"{arguments.batch} slices of {size:,.0f} bytes a batch, {arguments.rounds} rounds")
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        files = folder / "slices"
        files.mkdir()
        for number, one in enumerate(slices):
            (files / f"{number:06}").write_bytes(one)
        for name, python, url in pairs_of(arguments, folder):
            codecs = arguments.codec or ["msgpack"]
            stores = {codec: Store(arguments.program, url, codec, arguments.cores) for codec in codecs}
            python.put(slices)
            for store in stores.values():
                store.put(files)
            ours, theirs = {codec: [] for codec in codecs}, []
            for round_ in range(arguments.rounds + 2):
                took, found = fetch(python, arguments.batch)
                if round_ >= 2:
                    theirs.append(took)
                for codec, store in stores.items():
                    mine, values = store.get(arguments.batch)
                    if round_ == 0:
                        # The same slices, decoded whole, or nothing is said of speed.
                        expected = sum(number_of_values(one) for _, one in found)
                        assert len(found) == arguments.batch and values == expected
                    if round_ >= 2:
                        ours[codec].append(mine)
            for store in stores.values():
                store.remove()
            python.remove()
            for codec, times in ours.items():
                ratios = [took / mine for took, mine in zip(theirs, times)]
                mine, took = statistics.median(times), statistics.median(theirs)
                print(f"{name}, {codec}: regauge {mine * 1e3:.1f} ms, Python {took * 1e3:.1f} ms, "
                      f"{took / mine:.2f}x ({min(ratios):.2f} to {max(ratios):.2f})", flush=True)


if __name__ == "__main__":
    main()
