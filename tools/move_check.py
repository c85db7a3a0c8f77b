#!/usr/bin/env python3
"""Moves the caches of a Rails and a Django application off Marshal and pickle while processes of the old and the new
code use them, kills the migration again and again, locks the caches, and takes it all back.

    python3 tools/cache_servers.py run --only redis -- python3 tools/move_check.py path/to/regauge --values 1000000

Rails and Django are real, in two processes each (tools/move); `tools/cache_apps.py` says where they come from. Three of
ten values have a class, a symbol, a time or a set, and stay until the application writes them again. Every process
checks each value that it reads: it is one that was written, none comes back, none is missing, nothing is raised. After
the migration is undone, every value that nobody has written is the old one, byte by byte, with its expiry.

The server is that of REGAUGE_TEST_REDIS, whose databases 0 and 1 must be empty. An application that cannot run is
skipped, unless it is in REQUIRE.
"""

import argparse
import hashlib
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import cache_apps
from migrate_check import Client

HERE = Path(__file__).resolve().parent / "move"
FAULTS = ("exceptions", "wrong", "misses")
BATCH = 5000


class App:
    """An application: Rails or Django."""

    def __init__(self, name, command, environment, version, url, count):
        self.name, self.command, self.environment = name, command, environment
        self.version, self.url, self.count = version, url, count

    def start(self, what, code="old", worker=0, seed=0):
        command = [*self.command, what, self.url, str(self.count), code, str(worker), str(seed)]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=self.environment)


def finish(process):
    """Lets a process of an application end. Returns what it found."""
    said, _ = process.communicate()
    if process.returncode:
        sys.exit(f"an application ended with {process.returncode}")
    return json.loads(said)


class Load:
    """The processes of the applications, and what all of them found."""

    def __init__(self, apps):
        self.apps, self.running, self.found = apps, {}, Counter()
        self.written, self.errors, self.seeds = set(), [], iter(range(10**6))

    def deploy(self, worker, code):
        """Replaces process 0 or 1 of each application."""
        self.stop(worker)
        self.running[worker] = [app.start("work", code, worker, next(self.seeds)) for app in self.apps]

    def stop(self, worker):
        for process in self.running.pop(worker, []):
            said = finish(process)
            self.found.update(said["found"])
            self.written.update(said["written"])
            self.errors += said["errors"]

    def taken(self):
        """Returns what was found since the last time, and stops all processes."""
        for worker in list(self.running):
            self.stop(worker)
        found, self.found = self.found, Counter()
        return found


class Check:
    def __init__(self, arguments, url, apps, folder):
        self.arguments, self.url, self.folder = arguments, url, folder
        self.apps, self.load = apps, Load(apps)
        self.clients = [Client(url) for _ in range(2)]
        self.clients[1].one("SELECT", 1)
        self.journal = f"{folder}/moved.ndjson"
        self.rows, self.faults, self.total, self.killed = [], 0, Counter(), 0
        self.whole = self.own = 0

    def migrate(self, *options, kill_after=None):
        """Runs `regauge migrate`. Returns its exit status and what it said."""
        command = [self.arguments.regauge, "migrate", self.url, "--progress", "never", "--rate", "0", *options]
        before = ended()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if kill_after is not None:
            try:
                process.wait(kill_after)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
        said, complained = process.communicate()
        # Nothing else that this program has started ends meanwhile.
        self.own += ended() - before
        if process.returncode not in (0, 3, -signal.SIGKILL):
            sys.exit(f"migrate ended with {process.returncode}: {complained}")
        return process.returncode, said

    def processor(self):
        """Returns seconds of the server."""
        lines = self.clients[0].one("INFO", "cpu").decode().splitlines()
        told = dict(line.split(":") for line in lines if ":" in line)
        return float(told["used_cpu_user"]) + float(told["used_cpu_sys"])

    def step(self, title, work, *codes):
        """Runs a step while the processes of each code are at work, and adds a row."""
        for worker, code in enumerate(codes):
            self.load.deploy(worker, code)
        time.sleep(self.arguments.seconds)
        before, began, self.own = self.processor(), time.monotonic(), 0
        values = work()
        seconds, server = time.monotonic() - began, self.processor() - before
        time.sleep(self.arguments.seconds)
        found = self.load.taken()
        self.total.update(found)
        faults = sum(found[one] for one in FAULTS)
        self.faults += faults
        self.rows.append((title, " and ".join(codes), values, seconds, self.own, server, found["reads"],
                          found["writes"], faults))
        print(f"{title} ({' and '.join(codes)}): {values:,} values in {seconds:.1f} s; regauge {self.own:.1f} s, "
              f"redis {server:.1f} s of processor; {dict(found)}", flush=True)

    def snapshot(self):
        """Returns a digest of each value, and its expiry, by database and key."""
        found = {}
        for database, client in enumerate(self.clients):
            cursor = b"0"
            while True:
                client.socket.sendall(b"*4\r\n$4\r\nSCAN\r\n$%d\r\n%s\r\n$5\r\nCOUNT\r\n$4\r\n%d\r\n"
                                      % (len(cursor), cursor, BATCH))
                cursor, keys = scanned(client)
                if keys:
                    values = client.all([("GET", key) for key in keys])
                    expiries = client.all([("PEXPIRETIME", key) for key in keys])
                    for key, value, expiry in zip(keys, values, expiries):
                        found[database, key.decode()] = (hashlib.blake2b(value, digest_size=16).digest(), expiry)
                if cursor == b"0":
                    break
        return found

    def killed_often(self, kills, *options):
        """Runs and kills a migration so often, then runs it to its end. Returns what it said."""
        numbers = random.Random(1)
        for _ in range(kills):
            status, _ = self.migrate(*options, kill_after=numbers.uniform(0.1, 0.8) * self.whole)
            self.killed += status == -signal.SIGKILL
        status, said = self.migrate(*options)
        print(said.strip())
        return status

    def moves(self):
        """Re-encodes, and is killed again and again."""
        options = ("--to", "msgpack", "--apply", "--journal", self.journal)
        assert self.killed_often(self.arguments.kills - self.arguments.kills // 4, *options) == 3
        return self.lines()

    def lines(self):
        return sum(1 for _ in open(self.journal, "rb"))

    def rest(self):
        """Lets the applications write again what cannot move, and moves what old code wrote meanwhile."""
        written = sum(app.count for app in self.apps) * 3 // 10
        for process in [app.start("rewrite", "new") for app in self.apps]:
            finish(process)
        lines = self.lines()
        status, said = self.migrate("--to", "msgpack", "--apply", "--journal", self.journal)
        assert status == 0, said
        return written + self.lines() - lines

    def dry_run(self):
        began = time.monotonic()
        status, said = self.migrate("--to", "msgpack")
        self.whole = time.monotonic() - began
        assert status == 3 and "nothing was changed" in said, said
        print(said.strip())
        return self.arguments.values

    def wait(self):
        time.sleep(2 * self.arguments.seconds)
        return 0

    def run(self):
        began = time.monotonic()
        for process in [app.start("fill") for app in self.apps]:
            finish(process)
        print(f"filled in {time.monotonic() - began:.0f} s", flush=True)
        before = self.snapshot()
        assert len(before) == self.arguments.values, len(before)
        self.step("1 dry run", self.dry_run, "old", "old")
        self.step("2 two readers", self.wait, "old", "both")
        self.step("3 re-encode", self.moves, "both", "new")
        assert self.killed > 0
        self.step("write the rest again", self.rest, "new", "new")
        self.step("4 lock", self.locked, "locked", "locked")
        self.step("back: undo", self.undo, "both", "both")
        self.verify(before)
        for process in [app.start("again", "both") for app in self.apps]:
            finish(process)
        self.step("back: the old code", self.wait, "old", "old")

    def locked(self):
        before = ended()
        report = subprocess.run([self.arguments.regauge, "xray", self.url, "--json", "--rate", "0"], capture_output=True, check=True)
        self.own += ended() - before
        left = [form for form in json.loads(report.stdout)["all"]["forms"] if form["codec"] in ("marshal", "pickle")]
        assert not left, left
        return self.arguments.values

    def undo(self):
        assert self.killed_often(self.arguments.kills // 4, "--undo", self.journal) == 0
        return self.lines()

    def verify(self, before):
        """Compares what is there with what was there before."""
        now = self.snapshot()
        assert now.keys() == before.keys(), f"{len(before.keys() - now.keys())} keys are lost"
        same = 0
        for at, was in before.items():
            # The last three of ten were written again.
            if at[1] not in self.load.written and at[1][-1] not in "789":
                assert now[at] == was, at
                same += 1
        print(f"{same:,} values are the old ones, byte by byte, with their expiry; "
              f"{len(self.load.written):,} were written meanwhile by the applications")
        assert same > 0

    def table(self):
        """Prints the table of docs/caches.md."""
        print("\n| step | code of the processes | values | seconds | regauge | Redis | reads | writes | faults |\n"
              "|---|---|--:|--:|--:|--:|--:|--:|--:|")
        for title, codes, values, seconds, regauge, server, reads, writes, faults in self.rows:
            print(f"| {title} | {codes} | {format(values, ',') if values else ''} | {seconds:.0f} | {regauge:.1f} s | "
                  f"{server:.1f} s | {reads:,} | {writes:,} | {faults} |")


def ended():
    """Returns the seconds of processor of all processes that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def scanned(client):
    """Reads the answer of SCAN: the cursor, and the keys."""
    assert client.file.readline() == b"*2\r\n"
    cursor = client.answer()
    count = int(client.file.readline()[1:])
    return cursor, [client.answer() for _ in range(count)]


def applications(arguments, url):
    """Returns the applications that can run here."""
    found, half = [], arguments.values // 2
    for name, find in (("rails", cache_apps.rails), ("django", cache_apps.django)):
        try:
            if name == "rails":
                environment, version = find()
                command = ["ruby", str(HERE / "rails_app.rb")]
            else:
                python, version = find()
                environment, command = None, [python, str(HERE / "django_app.py")]
            found.append(App(name, command, environment, version, f"{url}/{len(found)}", half))
        except cache_apps.Missing as why:
            if name in arguments.require:
                sys.exit(f"{name} must be there: {why}")
            print(f"skipped: {name}: {why}")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("regauge")
    parser.add_argument("--values", type=int, default=20_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=1, help="how long the load lasts before and after each step")
    parser.add_argument("--require", action="append", default=[], choices=["rails", "django"])
    arguments = parser.parse_args()
    url = os.environ.get("REGAUGE_TEST_REDIS")
    if url is None:
        print("skipped: no redis")
        return
    apps = applications(arguments, url)
    if not apps:
        return
    arguments.values = sum(app.count for app in apps)
    print(", ".join(f"{app.name} {app.version}" for app in apps), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        check = Check(arguments, url, apps, folder)
        if any(client.one("DBSIZE") for client in check.clients):
            sys.exit("the databases are not empty")
        check.run()
        check.table()
        for client in check.clients:
            client.one("FLUSHDB")
    for error in check.load.errors[:10]:
        print(error)
    print(f"killed {check.killed} times; {check.total['reads']:,} reads and {check.total['writes']:,} writes; "
          + ", ".join(f"{check.total[one]} {one}" for one in FAULTS))
    if not check.total["reads"] or not check.total["writes"]:
        sys.exit("the applications read or wrote nothing")
    sys.exit(1 if check.faults else 0)


if __name__ == "__main__":
    main()
