#!/usr/bin/env python3
"""Measures `regauge xray` on a dump of Redis: where values are counted, where each is looked into, and the memory of
10 GB from a pipe.

    python3 benches/caches.py [--regauge PATH] [--megabytes 1000] [--pipe-gigabytes 10] [--rounds 5]

Small values are those that frameworks wrote in corpus/envelopes, with JSON and counters among them; larger ones are pickles
and JSON.
"""

import argparse
import json
import pathlib
import pickle
import statistics
import struct
import subprocess
import sys
import tempfile
import threading

from record import record
from whole import ROOT

sys.path.insert(0, str(ROOT / "tools"))
from memory_check import run  # noqa: E402


def values():
    """Returns small values: every file of the corpus, and as many plain ones."""
    files = sorted(path for path in (ROOT / "corpus/envelopes").glob("*/*") if path.name != "expected.json")
    made = [path.read_bytes() for path in files]
    plain = [b'{"id":%d,"name":"a product","tags":["a","b"],"price":2.5}' % n for n in range(len(made) // 2)]
    return [*made, *plain, *(b"%d" % n for n in range(len(made) // 2))]


def larger():
    """Returns values of some kilobytes: pickles and JSON of the same rows, as an application keeps them."""
    made = []
    for n in range(64):
        rows = [{"id": n * 100 + at, "name": f"product {at}", "price": at / 4, "tags": ["new", "sale"], "shop": None}
                for at in range(20 + n % 20)]
        made += [pickle.dumps(rows, 4), json.dumps(rows).encode()]
    return made


def string(data):
    """A string as RDB has it."""
    return b"\x80" + struct.pack(">I", len(data)) + data


def entries(megabytes, given):
    """Yields pieces of a dump, without its head and end."""
    number, left = 0, megabytes * 1_000_000
    names = ("views/products/{}-2026", "user:{}:session", ":1:articles.{}", "hits:{}", "queue/{}/jobs")
    while left > 0:
        piece = bytearray()
        for value in given:
            key = names[number % len(names)].format(number)
            piece += b"\xFC" + struct.pack("<Q", 4_000_000_000_000) + b"\0" + string(key.encode()) + string(value)
            number += 1
        left -= len(piece)
        yield bytes(piece)


def write(file, megabytes, given):
    file.write(b"REDIS0003\xFE\0")
    for piece in entries(megabytes, given):
        file.write(piece)
    file.write(b"\xFF")


def feed(pipe, gigabytes):
    """Writes a dump of so many gigabytes: the same 50 MB of larger values again and again."""
    pieces = b"".join(entries(50, larger()))
    pipe.write(b"REDIS0003\xFE\0")
    for _ in range(gigabytes * 1_000_000_000 // len(pieces)):
        pipe.write(pieces)
    pipe.write(b"\xFF")
    pipe.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--regauge", default=str(ROOT / "target/release/regauge"))
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--pipe-gigabytes", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        dump = pathlib.Path(folder) / "dump.rdb"
        for what, given in (("values of 150 bytes", values()), ("values of 2 KB", larger())):
            with dump.open("wb") as file:
                write(file, arguments.megabytes, given)
            measure(arguments, dump, what)
    if arguments.pipe_gigabytes:
        peak = piped(arguments.regauge, arguments.pipe_gigabytes)
        print(f"{arguments.pipe_gigabytes} GB from a pipe: {peak / 1e6:.1f} MB of memory")
        record("peak memory", f"{arguments.pipe_gigabytes} GB from a pipe", "regauge", [peak / 1e6], unit="MB")


def measure(arguments, dump, of):
    """Measures looking into a dump of such values, and counting them."""
    size = dump.stat().st_size
    ways = {f"{of}, each looked into": [], f"{of}, counted (`--no-values`)": ["--no-values"]}
    samples = {what: [] for what in ways}
    for _ in range(arguments.rounds):
        for what, options in ways.items():
            status, peak, processor, clock = run([arguments.regauge, "xray", str(dump), "--json", *options])
            assert status == 0
            samples[what].append((processor, clock, peak))
    for what, found in samples.items():
        processor, clock, peak = zip(*found)
        of_core, by_clock = (size / statistics.median(one) / 1e6 for one in (processor, clock))
        print(f"{what}: {of_core:,.0f} MB a second of one core, {by_clock:,.0f} MB a second by the clock, "
              f"{max(peak) / 1e6:.1f} MB of memory")
        record("processor time", what, "regauge", processor, size=size)
        record("clock", what, "regauge", clock, size=size)
        record("peak memory", what, "regauge", [one / 1e6 for one in peak], unit="MB")


def piped(regauge, gigabytes):
    """Returns the peak memory of a run that reads a dump from a pipe."""
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as source:
        threading.Thread(target=feed, args=(source.stdin, gigabytes), daemon=True).start()
        status, peak, _, _ = run([regauge, "xray", "-", "--json"], source.stdout)
    assert status == 0
    return peak


if __name__ == "__main__":
    main()
