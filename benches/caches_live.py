#!/usr/bin/env python3
"""Measures what `regauge xray redis://…` costs a server that is in use: the share of a core that Redis spends on it, and
the latency of another client's GETs, beside a server that nobody looks into.

    python3 benches/caches_live.py [--regauge PATH] [--keys 300000] [--seconds 5] [--rounds 5]

The server is a redis-server of its own. The rates are interleaved: each round has each of them once, in another order.
First Redis' share is measured while nothing else asks it, less what it spends when idle; then the other client asks for a
key every millisecond.
"""

import argparse
import contextlib
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

from caches import values
from record import record, versions
from whole import ROOT

sys.path.insert(0, str(ROOT / "tools"))
from migrate_check import Client  # noqa: E402
from servers_common import answers, free_ports, wait_for  # noqa: E402

WITHOUT = "without xray"
RATES = {WITHOUT: None, "`--rate 100`": 100, "`--rate 500`, the default": 500, "`--rate 1000`": 1000, "`--rate 2000`": 2000,
         "`--rate 5000`": 5000,
         "`--rate 0`, no limit": 0}
BATCH = 1000
TICK = 0.001


@contextlib.contextmanager
def server():
    """Yields the address of a server that keeps nothing."""
    with tempfile.TemporaryDirectory() as folder:
        port = free_ports(1)[0]
        command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            wait_for(lambda: answers(port), 20, "redis-server does not answer")
            yield f"redis://127.0.0.1:{port}"
        finally:
            process.kill()
            process.wait()


def fill(client, keys):
    """Writes so many small values. Returns their keys."""
    given, names = values(), ("views/products/{}", "user:{}:session", ":1:articles.{}", "hits:{}")
    made = [names[n % len(names)].format(n) for n in range(keys)]
    for start in range(0, keys, BATCH):
        client.all([("SET", key, given[(start + at) % len(given)]) for at, key in enumerate(made[start:start + BATCH])])
    return made


def processor(client):
    """Returns the seconds that the server's main thread has spent."""
    told = dict(line.split(":", 1) for line in client.one("INFO", "cpu").decode().splitlines() if ":" in line)
    return float(told["used_cpu_user_main_thread"]) + float(told["used_cpu_sys_main_thread"])


class Looking:
    """`regauge xray`, again and again, until it is stopped."""

    def __init__(self, regauge, url, rate):
        self.command = [regauge, "xray", url, "--json", "--rate", str(rate or 0)]
        self.running = None

    def go_on(self):
        if self.running is None or self.running.poll() is not None:
            assert self.running is None or self.running.returncode == 0
            self.running = subprocess.Popen(self.command, stdout=subprocess.DEVNULL)

    def stop(self):
        if self.running is not None:
            self.running.kill()
            self.running.wait()


class Nobody:
    """Nothing in its place."""

    def go_on(self):
        pass

    stop = go_on


def share(client, looking, seconds):
    """Returns the server's share of a core while nothing but xray asks it."""
    spent, began = processor(client), time.perf_counter()
    while time.perf_counter() < began + seconds:
        time.sleep(0.02)
        looking.go_on()
    return (processor(client) - spent) / (time.perf_counter() - began)


def latencies(client, keys, looking, seconds):
    """Returns how long GETs took, in seconds."""
    found, end = [], time.perf_counter() + seconds
    due = time.perf_counter()
    while (now := time.perf_counter()) < end:
        if now < due:
            time.sleep(due - now)
        if len(found) % 20 == 0:
            looking.go_on()
        asked = time.perf_counter()
        client.one("GET", random.choice(keys))
        found.append(time.perf_counter() - asked)
        due = max(due + TICK, asked)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("--regauge", default=str(ROOT / "target/release/regauge"))
    parser.add_argument("--keys", type=int, default=300_000)
    parser.add_argument("--seconds", type=float, default=5, help="for each rate in each round")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    if not pathlib.Path(arguments.regauge).exists():
        sys.exit(f"there is no {arguments.regauge}")
    found = {what: ([], [], []) for what in RATES}
    with server() as url:
        client = Client(url)
        keys = fill(client, arguments.keys)
        versions(Redis=client.one("INFO", "server").decode().split("redis_version:")[1].split()[0])
        for _ in range(arguments.rounds):
            order = list(RATES.items())
            random.shuffle(order)
            shares = {}
            for what, rate in order:
                looking = Nobody() if rate is None else Looking(arguments.regauge, url, rate)
                looking.go_on()
                # It connects and reads its first keys.
                time.sleep(0.3)
                shares[what] = share(client, looking, arguments.seconds)
                ranked = sorted(latencies(client, keys, looking, arguments.seconds))
                looking.stop()
                found[what][1].append(statistics.median(ranked))
                found[what][2].append(ranked[len(ranked) * 99 // 100])
            for what, one in shares.items():
                found[what][0].append(100 * (one - shares[WITHOUT]))
    for what, (shares, medians, tails) in found.items():
        print(f"{what}: {statistics.median(shares):.2f}% of a core ({min(shares):.2f} to {max(shares):.2f}); "
              f"GET p50 {statistics.median(medians) * 1e6:.0f} µs, p99 {statistics.median(tails) * 1e6:.0f} µs")
        if what != WITHOUT:
            record("live", what, "processor of Redis", shares, unit="%")
        record("live", what, "GET, median", medians)
        record("live", what, "GET, p99", tails)


if __name__ == "__main__":
    main()
