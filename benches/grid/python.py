#!/usr/bin/env python3
"""Compares the Python package with the fastest library of each format, over many documents.

    PYTHONPATH=bindings/python/python python3 benches/grid/python.py build/grid [--rounds 9] [--only json msgpack …]
        [--documents NAME …] [--used]

`build/grid` is what documents.py writes. A cell is the time of the fastest peer divided by ours, the median over
rounds, in thread processor time: above 1, regauge is faster. All answers are compared before they are timed. Each
document has a process of its own, or with --used all have the same one. Peers that are not installed, or that cannot
hold a document, are left out of its cells.
"""

import argparse
import importlib
import importlib.metadata
import json
import pathlib
import pickle
import platform
import statistics
import subprocess
import sys
import time

import regauge

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from drop_ins import repeat  # noqa: E402
from record import record, versions  # noqa: E402

# Each library of a format: its module, its distribution, and its calls that read and write.
PEERS = {
    "json": [("orjson", "orjson", "loads", "dumps"), ("msgspec.json", "msgspec", "decode", "encode"),
             ("yyjson", "yyjson", "loads", "dumps")],
    "msgpack": [("ormsgpack", "ormsgpack", "unpackb", "packb"), ("msgspec.msgpack", "msgspec", "decode", "encode")],
    "cbor": [("cbor2", "cbor2", "loads", "dumps"), ("cbor", "cbor", "loads", "dumps")],
    "bson": [("bson", "pymongo", "decode", "encode")],
    "pickle": [("pickle", None, "loads", "dumps")],
}
ROUND_S = 0.003


def peers(format):
    """Returns the libraries of a format that are installed: their names and calls."""
    found = []
    for module, distribution, reads, writes in PEERS[format]:
        try:
            loaded = importlib.import_module(module)
        except ImportError:
            continue
        found.append((distribution or module, getattr(loaded, reads), getattr(loaded, writes)))
    return found


def is_right(call, document, expected):
    """Whether a library's answer is the expected one."""
    try:
        return call(document) == expected
    except (ValueError, TypeError, OverflowError):
        return False


def race(row, name, document, calls, rounds):
    """Times calls in turn; records and returns the ratio of the fastest peer, and its name."""
    counts = {label: max(1, int(ROUND_S / max(repeat(call, document, 2), 5e-8))) for label, call in calls.items()}
    taken = {label: [] for label in calls}
    for at in range(rounds):
        order = list(calls.items())
        for label, call in order[at % len(order):] + order[:at % len(order)]:
            taken[label].append(repeat(call, document, counts[label]))
    ours = taken.pop("regauge")
    best = min(taken, key=lambda label: statistics.median(taken[label]))
    record(row, name, "regauge", ours, unit="s")
    record(row, name, best, taken[best], unit="s")
    return statistics.median(theirs / mine for theirs, mine in zip(taken[best], ours)), best


def cells(path, formats, rounds):
    """Yields the row, the ratio and the peer of each cell of a document."""
    value = json.loads(path.read_bytes())
    for format in formats:
        mine = getattr(regauge, format)
        whole = {"all": value} if format == "bson" and not isinstance(value, dict) else value
        fitting = [(label, loads, dumps) for label, loads, dumps in peers(format)
                   if is_right(lambda whole: loads(dumps(whole)), whole, whole)]
        if not fitting:
            continue
        # JSON as it is in the file, the others as the first of the peers writes them.
        data = path.read_bytes() if format == "json" else fitting[0][2](whole)
        reads = {"regauge": mine.loads, **{label: loads for label, loads, _ in fitting if is_right(loads, data, whole)}}
        writes = {"regauge": mine.dumps, **{label: dumps for label, _, dumps in fitting}}
        if mine.loads(data) != whole or mine.loads(mine.dumps(whole)) != whole:
            sys.exit(f"{path.name}: {format}: regauge's answer is another one")
        if len(reads) > 1:
            yield f"{format} loads", *race(f"{format} loads", path.stem, data, reads, rounds)
        yield f"{format} dumps", *race(f"{format} dumps", path.stem, whole, writes, rounds)


def show(header, rows):
    """Prints lines of a table in Markdown."""
    print("\n".join("| " + " | ".join(line) + " |" for line in [header, ["---"] + ["--:"] * (len(header) - 1)] * bool(header) + rows),
          flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", nargs="+", choices=PEERS, default=list(PEERS))
    parser.add_argument("--documents", nargs="+")
    parser.add_argument("--used", action="store_true", help="one process for all documents")
    parser.add_argument("--cells", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    paths = [path for path in sorted(arguments.folder.glob("*.json"))
             if not arguments.documents or path.stem in arguments.documents]
    if not paths:
        sys.exit(f"no documents in {arguments.folder}: benches/grid/documents.py writes them")
    if arguments.cells:
        print(json.dumps(list(cells(paths[0], arguments.only, arguments.rounds))))
        return
    columns = [f"{format} {call}" for format in arguments.only for call in ("loads", "dumps")]
    show(["document", *columns], [])
    grid = {column: [] for column in columns}
    for path in paths:
        if arguments.used:
            found = list(cells(path, arguments.only, arguments.rounds))
        else:
            said = subprocess.run([sys.executable, __file__, arguments.folder, "--cells", "--documents", path.stem,
                                   "--rounds", str(arguments.rounds), "--only", *arguments.only],
                                  check=True, stdout=subprocess.PIPE, text=True)
            found = json.loads(said.stdout)
        line = {row: f"**{ratio:.2f}** {best}" if ratio < 0.995 else f"{ratio:.2f}" for row, ratio, best in found}
        show([], [[path.stem, *(line.get(column, "") for column in columns)]])
        for row, ratio, _ in found:
            grid[row].append(ratio)
    every = [ratio for column in grid.values() for ratio in column]
    show([], [["median", *(f"{statistics.median(column):.2f}" if column else "" for column in grid.values())],
              ["least", *(f"{min(column):.2f}" if column else "" for column in grid.values())]])
    used = {name: importlib.metadata.version(name) for format in arguments.only for name, *_ in peers(format) if name != "pickle"}
    versions(CPython=platform.python_version(), **used)
    print(f"\n{sum(ratio < 0.995 for ratio in every)} of {len(every)} cells below 1.0; CPython {platform.python_version()}, "
          f"regauge {regauge.__version__}, " + ", ".join(f"{name} {version}" for name, version in used.items()))


if __name__ == "__main__":
    main()
