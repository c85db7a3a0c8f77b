#!/usr/bin/env python3
"""Moves a Redis that is written to off Marshal and pickle, kills the migration again and again, and takes it back.

    python3 tools/cache_servers.py run --only redis -- python3 tools/migrate_check.py path/to/regauge

The server is that of REGAUGE_TEST_REDIS, whose database 0 must be empty. It gets entries of Rails.cache, values of
Flask-Caching, bare Marshal and pickles, and what must stay as it is: JSON, counters, and an integer that MessagePack lacks.
While `regauge migrate` runs, a writer of the old code replaces some of them. Checked are: every value is the old one,
the moved one or what the writer wrote last; every expiry is the same to the millisecond; what cannot move has not; and
that undoing puts back all that the writer left alone.
"""

import json
import os
import pickle
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

CORPUS = Path(__file__).resolve().parent.parent / "corpus/envelopes"
KEYS = 20_000
KILLS = 20
EXPIRES = 4_000_000_000_123


class Client:
    """The few commands of Redis that are needed, in pipelines."""

    def __init__(self, url):
        parts = urlsplit(url)
        self.socket = socket.create_connection((parts.hostname, parts.port))
        self.file = self.socket.makefile("rb")

    def all(self, commands):
        request = bytearray()
        for command in commands:
            words = [word if isinstance(word, bytes) else str(word).encode() for word in command]
            request += b"*%d\r\n" % len(words)
            for word in words:
                request += b"$%d\r\n%s\r\n" % (len(word), word)
        self.socket.sendall(request)
        return [self.answer() for _ in commands]

    def one(self, *command):
        return self.all([command])[0]

    def answer(self):
        line = self.file.readline()
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            raise OSError(rest.decode())
        if kind == b"$":
            if (size := int(rest)) < 0:
                return None
            return self.file.read(size + 2)[:-2]
        return int(rest) if kind == b":" else rest


def values():
    """Returns the values, by key: what moves, and what stays."""
    entry = (CORPUS / "rails-7.1.6/7.1-hash.bin").read_bytes()
    flask = (CORPUS / "cachelib-0.17.0/value-dict.bin").read_bytes()
    moving = [entry, b"\x04\x08[\x07i\x06i\x07", pickle.dumps({"name": "Ada", "tags": ["a", "b"]}, 4)]
    # Flask-Caching reads nothing but pickles.
    staying = [b'{"a": 1}', b"17", b"text", pickle.dumps(2**80, 4), flask]
    made = {}
    for n in range(KEYS):
        group = moving if n % 4 else staying
        made[f"{'move' if n % 4 else 'stay'}:{n}"] = group[n % len(group)]
    return made


class Writer(threading.Thread):
    """A process of the old code, which goes on writing."""

    def __init__(self, url, keys):
        super().__init__(daemon=True)
        self.client, self.keys, self.wrote, self.stopped = Client(url), keys, {}, threading.Event()

    def run(self):
        numbers = random.Random(7)
        while not self.stopped.is_set():
            key = numbers.choice(self.keys)
            value = pickle.dumps(["written", numbers.random()], 4)
            self.client.one("SET", key, value, "KEEPTTL")
            self.wrote[key] = value
            time.sleep(0.002)

    def stop(self):
        self.stopped.set()
        self.join()


def fetch(client, keys):
    """Returns values and expiries by key."""
    found, expiries = {}, {}
    for start in range(0, len(keys), 1000):
        part = keys[start:start + 1000]
        found |= zip(part, client.all([("GET", key) for key in part]))
        expiries |= zip(part, client.all([("PEXPIRETIME", key) for key in part]))
    return found, expiries


def migrate(regauge, url, *options, kill_after=None):
    """Runs a migration, and perhaps kills it. Returns its exit status and what it said."""
    rate = () if "--rate" in options else ("--rate", "0")
    with subprocess.Popen([regauge, "migrate", url, "--to", "msgpack", *options, *rate], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as run:
        if kill_after is not None:
            time.sleep(kill_after)
            run.send_signal(signal.SIGKILL)
        said, complained = run.communicate()
    if run.returncode not in (0, 3, -signal.SIGKILL):
        sys.exit(f"migrate ended with {run.returncode}: {complained}")
    return run.returncode, said


def main(regauge):
    url = os.environ.get("REGAUGE_TEST_REDIS")
    if url is None:
        print("skipped: no redis")
        return
    client = Client(url)
    if client.one("DBSIZE"):
        sys.exit("the database is not empty")
    old = values()
    keys = list(old)
    client.all([("SET", key, value, "PXAT", EXPIRES + n % 3) if n % 2 else ("SET", key, value)
                for n, (key, value) in enumerate(old.items())])
    before, expiries = fetch(client, keys)
    assert before == old

    report = json.loads(subprocess.run([regauge, "xray", url, "--json", "--rate", "0"], capture_output=True, check=True).stdout)
    assert report["all"]["keys"] == KEYS, report["all"]["keys"]
    named = {(tuple(form["envelopes"]), form["codec"]) for form in report["all"]["forms"]}
    for wanted in [(("rails-cache-7.1",), "marshal"), (("cachelib",), "pickle"), ((), "marshal"), ((), "pickle")]:
        assert wanted in named, (wanted, named)

    status, said = migrate(regauge, url, "--objects", "refuse")
    assert status == 3 and "nothing was changed" in said, (status, said)
    assert fetch(client, keys) == (old, expiries)
    print(said)

    folder = Path(os.environ.get("REGAUGE_TEST_SERVERS", "."))
    journal = str(folder / "moved.ndjson")
    moving = [key for key in keys if key.startswith("move:")]
    writer = Writer(url, moving[::7])
    writer.start()
    options = ("--apply", "--journal", journal, "--objects", "data")
    numbers, killed = random.Random(1), 0
    for _ in range(KILLS):
        status, _ = migrate(regauge, url, *options, "--rate", "20000", kill_after=0.05 + numbers.random() / 5)
        killed += status == -signal.SIGKILL
    status, said = migrate(regauge, url, *options)
    writer.stop()
    now, expiries_now = fetch(client, keys)
    assert expiries_now == expiries
    moved = kept = written = 0
    for key in keys:
        if now[key] == old[key]:
            kept += 1
            assert not key.startswith("move:"), key
        elif now[key] == writer.wrote.get(key):
            written += 1
        else:
            moved += 1
    unmoved = sum(1 for key, value in now.items() if key.startswith("move:") and value[:2] == b"\x80\x04")
    print(f"killed {killed} times; {moved} values moved, {kept} stay, {written} are as the writer left them "
          f"({len(writer.wrote)} written); {unmoved} pickles are left")
    assert killed > 0 and moved > 0 and unmoved <= written

    done = subprocess.run([regauge, "migrate", url, "--undo", journal], capture_output=True, text=True, check=True)
    print(done.stdout.strip())
    back, expiries_back = fetch(client, keys)
    assert expiries_back == expiries
    for key in keys:
        assert back[key] in (old[key], writer.wrote.get(key)) or key in writer.wrote, key
        if key not in writer.wrote:
            assert back[key] == old[key], key
    again, _ = migrate(regauge, url, "--objects", "data", "--prefix", "move:")
    assert again == 0
    client.one("FLUSHDB")
    print("every value was what it had to be")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: migrate_check.py path/to/regauge")
    main(sys.argv[1])
