"""The task tenancy: all tenants in one SQLite file, or each in a separate file.

A gateway gets a tenant and a key; it finds the tenant's database and queries it. In a single file,
rows contain their tenant, and the index begins with it; with many, the file identifies the tenant.
Both hold the same rows. `kept` keeps a connection for each tenant, `opened` opens one per request.

Files are in WAL mode with synchronous = NORMAL, as SQLite's manual recommends for applications: a
commit does not wait for the disk, so writes do not measure the disk.
"""
import os
import random
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import runner
from runner import Wrong

TENANTS = [10, 100, 1000]
# Rows per query: a page of a list.
PAGE = 20
# Requests per iteration, each to a randomly drawn tenant.
REQUESTS = 100
INSTALLED = f"sqlite3 of Python, SQLite {sqlite3.sqlite_version}"

ONE_TABLE = "CREATE TABLE records (tenant INTEGER, id INTEGER, name TEXT, amount REAL, " \
            "PRIMARY KEY (tenant, id)) WITHOUT ROWID"
OWN_TABLE = "CREATE TABLE records (id INTEGER PRIMARY KEY, name TEXT, amount REAL)"
ONE_QUERY = f"SELECT id, name, amount FROM records WHERE tenant = ? AND id >= ? ORDER BY id LIMIT {PAGE}"
OWN_QUERY = f"SELECT id, name, amount FROM records WHERE id >= ? ORDER BY id LIMIT {PAGE}"
ONE_WRITE = "INSERT INTO records VALUES (?, ?, ?, ?)"
OWN_WRITE = "INSERT INTO records VALUES (?, ?, ?)"


def connect(path):
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA synchronous = NORMAL")
    return database


def row(tenant, id):
    return (id, f"record {id} of tenant {tenant}", id * 1.25)


class One:
    """All tenants in one file."""

    def __init__(self, folder, tenants, each):
        self.tenants, self.each = tenants, each
        self.path = os.path.join(folder, f"one-{tenants}.sqlite")
        self.database = make(self.path, ONE_TABLE, ONE_WRITE,
                             ((tenant, *row(tenant, id))
                              for tenant in range(tenants) for id in range(each)))

    def query(self, tenant, id):
        return self.database.execute(ONE_QUERY, (tenant, id)).fetchall()

    def write(self, tenant, id):
        self.database.execute(ONE_WRITE, (tenant, *row(tenant, id)))


class Kept:
    """A file for each tenant, whose connection is kept open."""

    def __init__(self, folder, tenants, each):
        self.tenants, self.each = tenants, each
        self.paths = [os.path.join(folder, f"many-{tenants}-{tenant}.sqlite")
                      for tenant in range(tenants)]
        self.databases = [
            make(path, OWN_TABLE, OWN_WRITE, (row(tenant, id) for id in range(each)))
            for tenant, path in enumerate(self.paths)
        ]

    def query(self, tenant, id):
        return self.databases[tenant].execute(OWN_QUERY, (id,)).fetchall()

    def write(self, tenant, id):
        self.databases[tenant].execute(OWN_WRITE, row(tenant, id))


class Opened:
    """The same files, with a connection per request."""

    def __init__(self, kept):
        self.tenants, self.each, self.paths = kept.tenants, kept.each, kept.paths

    def query(self, tenant, id):
        database = connect(self.paths[tenant])
        rows = database.execute(OWN_QUERY, (id,)).fetchall()
        database.close()
        return rows

    def write(self, tenant, id):
        database = connect(self.paths[tenant])
        database.execute(OWN_WRITE, row(tenant, id))
        database.close()


def make(path, table, write, rows):
    database = connect(path)
    # Creating the files is not measured: it need not survive a power failure.
    database.execute("PRAGMA synchronous = OFF")
    database.execute("PRAGMA journal_mode = WAL")
    database.execute(table)
    database.execute("BEGIN")
    database.executemany(write, rows)
    database.execute("COMMIT")
    database.execute("PRAGMA synchronous = NORMAL")
    return database


def define(name, gateway, next_id):
    draw = random.Random(gateway.tenants)

    def check():
        """Checks that the answer holds the tenant's own rows and nobody else's."""
        for tenant in range(0, gateway.tenants, max(1, gateway.tenants // 10)):
            first = gateway.each // 2
            wanted = [row(tenant, id) for id in range(first, min(first + PAGE, gateway.each))]
            if gateway.query(tenant, first)[:len(wanted)] != wanted:
                raise Wrong(f"tenant {tenant} was given other rows")
        return {}

    def query(iterations):
        for _ in range(iterations * REQUESTS):
            gateway.query(draw.randrange(gateway.tenants), draw.randrange(gateway.each))

    def write(iterations):
        for _ in range(iterations * REQUESTS):
            next_id[0] += 1
            gateway.write(draw.randrange(gateway.tenants), next_id[0])

    def check_write():
        next_id[0] += 1
        gateway.write(0, next_id[0])
        if gateway.query(0, next_id[0]) != [row(0, next_id[0])]:
            raise Wrong("a written record was not read back")
        return {}

    runner.define(f"{name} query {gateway.tenants}", check, query, INSTALLED)
    runner.define(f"{name} write {gateway.tenants}", check_write, write, INSTALLED)


def may_open(files):
    """Returns whether this many files may be open; raises the limit if the system allows it."""
    try:
        import resource
    except ImportError:
        return True
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < files:
        return False
    if soft != resource.RLIM_INFINITY and soft < files:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
    return True


def ready(command):
    records = command["documents"]
    for tenants in TENANTS:
        why = None
        if records < tenants:
            why = f"{records} records are too few for {tenants} tenants"
        # The file itself, its journal and its shared index.
        if why or not may_open(3 * sum(TENANTS) + 100):
            for name in ["one", "kept", "opened"]:
                for what in ["query", "write"]:
                    runner.absent(f"{name} {what} {tenants}", "ulimit -n 4096", why)
            continue
        each = records // tenants
        # Keys above the existing ones, the same for both: no two writes collide.
        next_id = [each]
        kept = Kept(command["folder"], tenants, each)
        define("one", One(command["folder"], tenants, each), next_id)
        define("kept", kept, next_id)
        define("opened", Opened(kept), next_id)


if __name__ == "__main__":
    runner.serve(ready, f"SQLite {sqlite3.sqlite_version}")
