#!/usr/bin/env python3
"""Moves a table that is written to off Marshal and pickle, kills the migration again and again, and takes it back.

    python3 tools/migrate_sql_check.py path/to/regauge [--rows 100000] [--kills 20]
    python3 tools/cache_servers.py run --only postgres --only mongodb --only cassandra -- \\
        python3 tools/migrate_sql_check.py path/to/regauge

The table is in SQLite and, if REGAUGE_TEST_POSTGRES names a server, in PostgreSQL too, through psql; it is a collection
of MongoDB if REGAUGE_TEST_MONGODB names a server and this Python has pymongo, and a table of Cassandra if
REGAUGE_TEST_CASSANDRA does and this Python has cassandra-driver. It holds pending objects that Ruby (if it is
there) and Python have written, and what must stay as it is: JSON, text, and an integer that MessagePack lacks. While
`regauge migrate` runs and is killed, a writer of the old code replaces some of them.

Accounted for is every row: it has what was written last, by the first program or by the writer, or what the journal says
that this became. `--undo` then makes each row what was written last. In Cassandra, half of the rows expire, which they
still do when they were moved and put back.
"""

import argparse
import base64
import json
import os
import pickle
import random
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path

from migrate_check import migrate

try:
    import bson
    import pymongo
except ImportError:
    pymongo = None
try:
    import cassandra.cluster
    from cassandra.policies import WhiteListRoundRobinPolicy
except Exception:  # It is not installed, or finds no event loop in this Python.
    cassandra = None

TABLE = "CREATE TABLE pending_objects (id INTEGER PRIMARY KEY, object {bytes}, state TEXT DEFAULT 'new')"
ORDERS = """
ARGV[0].to_i.times do |n|
  order = { "number" => n, "customer" => "Customer #{n % 50}", "lines" => Array.new(3) { |at| { "sku" => "A-#{at}" } } }
  puts [Marshal.dump(order)].pack("m0")
end
"""


def objects(rows):
    """Returns the values, by the number of their row: those in `row % 4 == 0` stay."""
    orders = [pickle.dumps({"number": n, "customer": f"Customer {n % 50}", "tags": ["a", "b"]}, 4) for n in range(rows)]
    if shutil.which("ruby"):
        made = subprocess.run(["ruby", "-e", ORDERS, str(rows // 2)], capture_output=True, check=True).stdout
        orders[:rows // 2] = map(base64.b64decode, made.splitlines())
    staying = [b'{"a": 1}', b"text", pickle.dumps(2**80, 4)]
    random.Random(3).shuffle(orders)
    return {n: orders[n] if n % 4 else staying[n // 4 % 3] for n in range(rows)}


class SQLite:
    """An SQLite file in WAL mode, as Rails makes it."""

    def __init__(self, folder, _rows):
        self.path = str(Path(folder) / "app.db")
        self.url = f"sqlite:{self.path}?table=pending_objects&column=object"
        self.connection = None

    def connect(self):
        self.connection = sqlite3.connect(self.path, timeout=60, isolation_level=None)
        return self

    def fill(self, values):
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute(TABLE.format(bytes="BLOB"))
        self.connection.execute("BEGIN")
        self.connection.executemany("INSERT INTO pending_objects (id, object) VALUES (?, ?)", values.items())
        self.connection.execute("COMMIT")

    def write(self, row, value):
        self.connection.execute("UPDATE pending_objects SET object = ? WHERE id = ?", (value, row))

    def fetch(self):
        return dict(self.connection.execute("SELECT id, object FROM pending_objects"))

    def states(self):
        return self.connection.execute("SELECT count(*) FROM pending_objects WHERE state = 'new'").fetchone()[0]

    def close(self):
        self.connection.close()


class PostgreSQL:
    """PostgreSQL, through psql."""

    def __init__(self, _folder, _rows):
        self.base = os.environ["REGAUGE_TEST_POSTGRES"]
        sign = "&" if "?" in self.base else "?"
        self.url = f"{self.base}{sign}table=pending_objects&column=object"
        self.process = None

    def connect(self):
        self.process = subprocess.Popen(["psql", "-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", self.base], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        return self

    def run(self, sql, stdin=None):
        done = subprocess.run(["psql", "-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-c", sql, self.base], text=True,
                              input=stdin, capture_output=True, check=True)
        return done.stdout

    def fill(self, values):
        self.run("DROP TABLE IF EXISTS pending_objects")
        self.run(TABLE.format(bytes="bytea"))
        rows = "".join(f"{row}\t\\\\x{value.hex()}\n" for row, value in values.items())
        self.run("COPY pending_objects (id, object) FROM STDIN", rows)

    def write(self, row, value):
        self.process.stdin.write(f"UPDATE pending_objects SET object = '\\x{value.hex()}' WHERE id = {row};\n")
        self.process.stdin.flush()
        said = self.process.stdout.readline().strip()
        assert said == "UPDATE 1", said

    def fetch(self):
        rows = self.run("COPY (SELECT id, encode(object, 'hex') FROM pending_objects) TO STDOUT").splitlines()
        return {int(row): bytes.fromhex(value) for row, value in (line.split("\t") for line in rows)}

    def states(self):
        return int(self.run("SELECT count(*) FROM pending_objects WHERE state = 'new'"))

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class MongoDB:
    """A collection of MongoDB, whose documents have the numbers of the rows as their ObjectIds."""

    # FerretDB 1 reads its whole collection for every update that has a condition.
    rows_max = 1000

    def __init__(self, _folder, _rows):
        base = os.environ["REGAUGE_TEST_MONGODB"]
        self.url = f"{base}.pending_objects?field=object"
        self.client = pymongo.MongoClient(base)
        self.collection = self.client.get_default_database()["pending_objects"]

    def connect(self):
        return self

    def fill(self, values):
        self.collection.drop()
        self.collection.insert_many([{"_id": self.id_of(row), "object": value, "state": "new"} for row, value in values.items()])

    def write(self, row, value):
        said = self.collection.update_one({"_id": self.id_of(row)}, {"$set": {"object": value}})
        assert said.matched_count == 1, said

    def fetch(self):
        return {self.row(str(one["_id"])): one["object"] for one in self.collection.find()}

    def states(self):
        return sum(one["state"] == "new" for one in self.collection.find())

    def close(self):
        self.client.close()

    @staticmethod
    def id_of(row):
        return bson.ObjectId(row.to_bytes(12, "big"))

    @staticmethod
    def row(key):
        return int(key, 16)


class Cassandra:
    """A table of Cassandra with several key columns, in which the rows of even numbers expire."""

    rows_max = 1000
    rows_per_second = 2000
    life = 86_400
    # The dry run counts the row without a value.
    says = "rows or documents without a value: 1\n"

    def __init__(self, _folder, _rows):
        base = os.environ["REGAUGE_TEST_CASSANDRA"].split("?")[0]
        address, self.keyspace = base.removeprefix("cassandra://").split("/")
        self.host, self.port = address.split(":")
        self.url = f"{base}.pending_objects?column=object"
        self.session = None

    def connect(self):
        profile = cassandra.cluster.ExecutionProfile(load_balancing_policy=WhiteListRoundRobinPolicy([self.host]))
        self.cluster = cassandra.cluster.Cluster(
            [self.host], port=int(self.port), protocol_version=4,
            execution_profiles={cassandra.cluster.EXEC_PROFILE_DEFAULT: profile})
        self.session = self.cluster.connect()
        # Tests may have made it before.
        self.session.execute(f"CREATE KEYSPACE IF NOT EXISTS {self.keyspace} WITH replication = "
                             "{'class': 'NetworkTopologyStrategy', 'replication_factor': 1}")
        self.session.set_keyspace(self.keyspace)
        return self

    def fill(self, values):
        self.session.execute("DROP TABLE IF EXISTS pending_objects")
        self.session.execute("CREATE TABLE pending_objects (shop text, day date, id int, object blob, state text, "
                             "PRIMARY KEY ((shop, day), id))")
        put = self.session.prepare("INSERT INTO pending_objects (shop, day, id, object, state) VALUES (?, ?, ?, ?, 'new') "
                                   "USING TTL ?")
        for row, value in values.items():
            self.session.execute(put, (*self.key_of(row), value, 0 if row % 2 else self.life))
        self.session.execute("INSERT INTO pending_objects (shop, day, id, state) VALUES ('none', '2026-11-27', 0, 'none')")

    def write(self, row, value):
        # This program waits for one node only.
        self.session.execute("UPDATE pending_objects SET object = %s WHERE shop = %s AND day = %s AND id = %s",
                             (value, *self.key_of(row)))

    def select(self, what):
        found = self.session.execute(f"SELECT id, state, {what} FROM pending_objects")
        return {row[0]: row[2] for row in found if row[1] == "new"}

    def fetch(self):
        return self.select("object")

    def lives(self):
        """Returns the seconds that each value has left, or None."""
        return self.select("TTL(object)")

    def states(self):
        return len(self.select("state"))

    def close(self):
        self.cluster.shutdown()

    @staticmethod
    def key_of(row):
        return f"shop/{row % 50}", f"2026-11-{row % 9 + 1:02}", row

    @staticmethod
    def row(key):
        return int(key.rsplit("/", 1)[1])


class Writer(threading.Thread):
    """A process of the old code, which goes on writing."""

    def __init__(self, connect, rows):
        super().__init__(daemon=True)
        self.connect, self.rows, self.wrote, self.failed = connect, rows, {}, None
        self.stopped = threading.Event()

    def run(self):
        numbers = random.Random(7)
        database = self.connect()
        try:
            while not self.stopped.is_set():
                row = numbers.choice(self.rows)
                value = pickle.dumps(["written", numbers.random()], 4)
                database.write(row, value)
                self.wrote[row] = value
                time.sleep(0.005)
        except Exception as error:
            self.failed = error
        database.close()

    def stop(self):
        self.stopped.set()
        self.join()
        if self.failed:
            raise self.failed


def moves(journal, row):
    """Returns what the journal says was replaced by what, per row, whose number `row` makes of a key."""
    found = defaultdict(set)
    for line in journal.read_text().splitlines():
        entry = json.loads(line)
        key = base64.b64decode(entry["key"]).decode()
        found[row(key.removeprefix("pending_objects.object/"))].add(
            (base64.b64decode(entry["old"]), base64.b64decode(entry["new"])))
    return found


def same_lives(before, now, wrote, began):
    """Checks that values which nobody wrote expire when they would have expired before, and others never."""
    passed = time.monotonic() - began
    for row, left in before.items():
        if row in wrote or left is None:
            assert now[row] is None, row
        else:
            assert abs(left - passed - now[row]) < 5, (row, left, passed, now[row])


def check(regauge, kind, folder, rows, kills):
    rows = min(rows, getattr(kind, "rows_max", rows))
    old = objects(rows)
    database = kind(folder, rows).connect()
    database.fill(old)
    status, said = migrate(regauge, database.url)
    assert status == 3 and "nothing was changed" in said and getattr(kind, "says", "") in said, (status, said)
    assert database.fetch() == old
    lives = getattr(database, "lives", dict)
    before, began = lives(), time.monotonic()
    journal = Path(folder) / "moved.ndjson"
    options = ("--apply", "--journal", str(journal))
    # Of the values that move, one in seven.
    writer = Writer(lambda: kind(folder, rows).connect(), [row for row in old if row % 4][::7])
    writer.start()
    numbers, killed = random.Random(1), 0
    longest = rows / getattr(kind, "rows_per_second", 30_000)
    for _ in range(kills):
        status, _ = migrate(regauge, database.url, *options, kill_after=0.05 + numbers.random() * longest)
        killed += status == -signal.SIGKILL
    status, said = migrate(regauge, database.url, *options)
    seconds = time.monotonic() - began
    writer.stop()
    now, journaled = database.fetch(), moves(journal, getattr(kind, "row", int))
    last = old | writer.wrote
    same_lives(before, lives(), writer.wrote, began)
    assert now.keys() == old.keys() and database.states() == rows
    moved = 0
    for row, value in now.items():
        if value != last[row]:
            assert (last[row], value) in journaled[row], (row, last[row], value)
            moved += 1
    left = [row for row, value in now.items() if row % 4 and value == last[row]]
    assert killed > 0 and moved > rows / 2, (killed, moved)
    # What the writer wrote after the last run had passed.
    assert all(row in writer.wrote for row in left), left[:5]
    print(f"{kind.__name__}: killed {killed} times in {seconds:.0f} s; of {rows:,} rows, {moved:,} were moved, "
          f"{rows - moved - len(left):,} stay, {len(left):,} are as the writer left them ({len(writer.wrote):,} written)")
    undone = subprocess.run([regauge, "migrate", database.url, "--undo", str(journal)], capture_output=True, text=True)
    assert undone.returncode == 0, undone.stderr
    print(undone.stdout.strip())
    assert database.fetch() == last and database.states() == rows
    same_lives(before, lives(), writer.wrote, began)
    database.close()
    print(f"{kind.__name__}: every row is what was written last")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("regauge")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--kills", type=int, default=20)
    arguments = parser.parse_args()
    kinds = [SQLite]
    if "REGAUGE_TEST_POSTGRES" in os.environ and shutil.which("psql"):
        kinds.append(PostgreSQL)
    if "REGAUGE_TEST_MONGODB" in os.environ and pymongo is None:
        print("skipped: MongoDB, because this Python has no pymongo")
    elif "REGAUGE_TEST_MONGODB" in os.environ:
        kinds.append(MongoDB)
    if "REGAUGE_TEST_CASSANDRA" in os.environ and cassandra is None:
        print("skipped: Cassandra, because this Python has no cassandra-driver")
    elif "REGAUGE_TEST_CASSANDRA" in os.environ:
        kinds.append(Cassandra)
    for kind in kinds:
        with tempfile.TemporaryDirectory(prefix="regauge-migrate-") as folder:
            check(arguments.regauge, kind, folder, arguments.rows, arguments.kills)


if __name__ == "__main__":
    main()
