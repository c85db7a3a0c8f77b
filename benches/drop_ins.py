#!/usr/bin/env python3
"""Measures the plain calls of regauge.compat's modules against regauge's own and against the libraries.

    PYTHONPATH=bindings/python/python python3 benches/drop_ins.py [--only msgpack yaml …] [--rounds 21]

Measures CPU time, in turns within one process; prints medians as a Markdown table. The documents are a map of
five fields (small, some 60 bytes) and a list of maps of nine values each: 4 (middle, some 500 bytes), or 200
(large). regauge's own call does the same work: where the drop-in has to write other text than usual, it gets
the options for that. Libraries that are not installed are left out.
"""

import argparse
import functools
import importlib
import statistics
import time

import regauge

SMALL = {"id": 17, "name": "Ada", "tags": ["a", "b"], "ok": True, "score": 2.5}
ROWS = [
    {"id": i, "name": f"name {i}", "tags": ["alpha", "beta", "gamma"], "ok": i % 2 == 0, "score": i / 7,
     "nested": {"x": i, "z": None}}
    for i in range(200)
]
SIZES = {"small": SMALL, "middle": ROWS[:4], "large": ROWS}
MODULES = ("msgpack", "yaml", "cbor2", "bson", "orjson", "json")
# How long a call is repeated in each round.
ROUND_S = 0.004


def calls(name):
    """Yields label, document, and the calls of regauge, of the drop-in and of the library."""
    theirs = importlib.import_module(name)
    ours = importlib.import_module(f"regauge.compat.{name}")
    own = getattr(regauge, {"cbor2": "cbor", "orjson": "json"}.get(name, name))
    writes, reads = {"msgpack": ("packb", "unpackb"), "yaml": ("safe_dump", "safe_load"),
                     "bson": ("encode", "decode")}.get(name, ("dumps", "loads"))
    dumps, loads = getattr(theirs, writes), getattr(theirs, reads)
    own_dumps, own_loads = own.dumps, own.loads
    if name == "yaml":
        if theirs.__with_libyaml__:
            loads = functools.partial(theirs.load, Loader=theirs.CSafeLoader)
            dumps = functools.partial(theirs.dump, Dumper=theirs.CSafeDumper)
        own_dumps = functools.partial(own.dumps, sort_keys=True, text=True)
        own_loads = functools.partial(own.loads, schema="1.1")
    elif name == "json":
        # All but the spaces after commas and colons.
        own_dumps = functools.partial(own.dumps, text=True, ascii=True, float_style="python")
    for size, value in SIZES.items():
        # A document of BSON is a map.
        if name == "bson" and isinstance(value, list):
            value = {"rows": value}
        yield f"{name}.{writes}, {size}", value, (own_dumps, getattr(ours, writes), dumps)
        yield f"{name}.{reads}, {size}", dumps(value), (own_loads, getattr(ours, reads), loads)


def repeat(call, document, times):
    """Returns the CPU seconds that a call takes."""
    started = time.thread_time()
    for _ in range(times):
        call(document)
    return (time.thread_time() - started) / times


def measure(document, functions, rounds):
    """Returns the median of each call."""
    times = [max(1, int(ROUND_S / max(repeat(call, document, 3), 1e-7))) for call in functions]
    taken = [[repeat(call, document, count) for call, count in zip(functions, times)] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*taken)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=MODULES, default=MODULES)
    parser.add_argument("--rounds", type=int, default=21)
    arguments = parser.parse_args()
    print("| call | drop-in | regauge's own | the library | vs own | vs the library |\n|---|---:|---:|---:|---:|---:|")
    for name in arguments.only:
        try:
            importlib.import_module(name)
        except ImportError:
            continue
        for label, document, functions in calls(name):
            own, ours, theirs = measure(document, functions, arguments.rounds)
            times = " | ".join(f"{time * 1e6:.2f} µs" for time in (ours, own, theirs))
            print(f"| {label} | {times} | {own / ours:.2f} | {theirs / ours:.2f} |", flush=True)


if __name__ == "__main__":
    main()
