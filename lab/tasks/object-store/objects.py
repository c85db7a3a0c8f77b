"""The task object-store in Python: plain objects through pickle, with and without Base64, alone and
through a column of SQLite. See objects.rb, which does the same."""
import base64
import os
import pickle
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import runner
from runner import Wrong


class Plain:
    """A small object, typical of applications."""

    def __init__(self, id):
        self.id = id
        self.name = f"object number {id}"
        self.amount = id * 1.25
        self.active = id % 2 == 0
        self.tags = ["new", f"group {id % 10}"]

    def __eq__(self, other):
        return isinstance(other, Plain) and self.__dict__ == other.__dict__


# Pickle refers to a class by its module, which here is the program itself.
PROTOCOL = 5
INSTALLED = f"pickle {PROTOCOL} of Python {sys.version.split()[0]}"


def dump(id):
    return pickle.dumps(Plain(id), PROTOCOL)


def dump_text(id):
    return base64.b64encode(pickle.dumps(Plain(id), PROTOCOL))


def same(id, got):
    if got != Plain(id):
        raise Wrong(f"object {id} came back changed")


def each_object(name, count, step, work, figures, loaded=lambda id, got: got):
    def check():
        for id in range(count):
            same(id, loaded(id, work(id)))
        return figures

    def run(iterations):
        for _ in range(iterations):
            for part in runner.steps(count, step):
                for id in part:
                    work(id)
                runner.mark()

    runner.define(name, check, run, INSTALLED)


def column(kind, count, step, folder, sizes):
    path = os.path.join(folder, f"objects-{kind}.sqlite")
    encode = dump if kind == "BLOB" else (lambda id: dump_text(id).decode("ascii"))

    def write(iterations):
        for _ in range(iterations):
            if os.path.exists(path):
                os.remove(path)
            database = sqlite3.connect(path, isolation_level=None)
            database.execute(f"CREATE TABLE objects (id INTEGER PRIMARY KEY, object {kind})")
            database.execute("BEGIN")
            for part in runner.steps(count, step):
                for id in part:
                    database.execute("INSERT INTO objects VALUES (?, ?)", (id, encode(id)))
                runner.mark()
            database.execute("COMMIT")
            database.close()

    def rows():
        database = sqlite3.connect(path)
        for id, value in database.execute("SELECT id, object FROM objects ORDER BY id"):
            yield id, pickle.loads(value if kind == "BLOB" else base64.b64decode(value))
        database.close()

    def read(iterations):
        for _ in range(iterations):
            for row, _ in enumerate(rows(), 1):
                if row % step == 0 or row == count:
                    runner.mark()

    def check_write():
        write(1)
        return {"bytes": os.path.getsize(path) / count}

    def check_read():
        write(1)
        found = 0
        for id, got in rows():
            same(id, got)
            found += 1
        if found != count:
            raise Wrong(f"{found} of {count} objects were returned")
        return {"bytes": sizes[kind == "TEXT"]}

    installed = f"sqlite3 of Python, SQLite {sqlite3.sqlite_version}"
    runner.define(f"SQLite {kind} write", check_write, write, installed)
    runner.define(f"SQLite {kind} read", check_read, read, installed)


def ready(command):
    count = command["documents"]
    step = command["step"] or count
    dumped = [dump(id) for id in range(count)]
    texts = [dump_text(id) for id in range(count)]
    plain = {"bytes": sum(map(len, dumped)) / count}
    text = {"bytes": sum(map(len, texts)) / count}
    load, decode = pickle.loads, base64.b64decode
    each_object("create", count, step, Plain, {})
    each_object("dump", count, step, dump, plain, lambda id, got: load(got))
    each_object("dump Base64", count, step, dump_text, text, lambda id, got: load(decode(got)))
    each_object("load", count, step, lambda id: load(dumped[id]), plain)
    each_object("load Base64", count, step, lambda id: load(decode(texts[id])), text)
    each_object("both", count, step, lambda id: load(dump(id)), plain)
    each_object("both Base64", count, step, lambda id: load(decode(dump_text(id))), text)
    for kind in ["BLOB", "TEXT"]:
        column(kind, count, step, command["folder"], [plain["bytes"], text["bytes"]])


if __name__ == "__main__":
    runner.serve(ready, "pickle, base64")
