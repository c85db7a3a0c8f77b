#!/usr/bin/env python3
"""Compares whole `regauge convert` processes with the peers, on files of about 100 MB.

    python3 benches/whole.py [--regauge PATH] [--megabytes 100] [--rounds 7] [--only yaml]

Every command of a table runs in turn, round after round; the figures are medians of the user and
system time that the kernel reports for the finished process, and of wall-clock time. Outputs are
compared before anything is timed. Peers that are not installed are named and skipped: `cargo
install xt`, the Python package `rapidyaml`, and Debian's packages `yaz` and (if it exists)
`msgpack-tools`.

The JSON is cut from the real files that `make data` fetches, or generated if they are missing; the
catalogue is the output of `regauge sample catalog`.
"""

import argparse
import json
import math
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from record import record, versions

ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(command, output=None):
    """Runs a command to the end; returns (cpu seconds, wall seconds). An output file is always a
    new one: otherwise ours would wait until the replacement of the old one is on disk, which the
    peers do not."""
    for path in {output, command[-1]}:
        if path and pathlib.Path(path).name.startswith(("out.", "xt.", "yaz-", "json2msgpack.", "rapidyaml.", "bsondump.", "pymongo.")):
            pathlib.Path(path).unlink(missing_ok=True)
    with open(output or os.devnull, "wb") as sink:
        start = time.monotonic()
        process = subprocess.Popen(command, stdout=sink, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{command[0]} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime, wall


def tables(title, size, rows, rounds):
    """Runs the same job twice: into files, and with the output discarded. Writing a file costs the
    kernel as much as converting costs us, and at times much more on a virtual machine.

    `rows`: (name, arguments before the output, file for the output; ours is passed its name).
    """
    to_files = [
        (name, command + [output] if name == OURS else command, None if name == OURS else output)
        for name, command, output in rows
    ]
    table(f"{title}, into a file", size, to_files, rounds)
    to_nothing = [
        (name, command + ["-", "--to", FORMATS[pathlib.Path(output).name.split(".", 1)[1]]]
         if name == OURS else command, None)
        for name, command, output in rows
    ]
    table(f"{title}, output thrown away", size, to_nothing, rounds)


OURS = "regauge convert"
# The names of the files in the tables.
KINDS = {
    "big.json": "JSON, one array,",
    "big.ndjson": "NDJSON",
    "catalog.ndjson": "NDJSON of a catalogue",
    "big.yaml": "YAML of JSON's data",
    "legislators.yaml": "YAML that people wrote",
    "big.mrc": "MARC 21",
    "big.xml": "MARCXML",
    "out.xml": "MARCXML",
    "out.marc.json": "MARC-in-JSON",
    "out.mrc": "MARC 21",
}
FORMATS = {
    "msgpack": "msgpack",
    "xml": "marcxml",
    "marc.json": "marc-json",
    "mrc": "marc",
    "json": "json",
    "yaml": "yaml",
}


def table(title, size, rows, rounds):
    """`rows`: (name, command, file for standard output or None)."""
    print(f"\n{title}, {size / 1e6:.0f} MB")
    samples = {name: [] for name, _, _ in rows}
    for _, command, output in rows:
        run(command, output)
    for _ in range(rounds):
        for name, command, output in rows:
            samples[name].append(run(command, output))
    ours = statistics.median(sample[0] for sample in samples[rows[0][0]])
    for name, _, _ in rows:
        record("processor time", title, name, [sample[0] for sample in samples[name]], size=size)
        record("clock", title, name, [sample[1] for sample in samples[name]], size=size)
        cpu = statistics.median(sample[0] for sample in samples[name])
        wall = statistics.median(sample[1] for sample in samples[name])
        print(
            f"  {name:44} cpu {cpu:7.3f} s  {size / 1e6 / cpu:7.0f} MB/s  "
            f"{cpu / ours:6.2f}x ours  clock {wall:7.3f} s"
        )
    return samples


def peer(name):
    """Returns the path of an installed peer, or None and prints how to get it."""
    found = shutil.which(name)
    if not found:
        print(f"not installed: {name}", file=sys.stderr)
        return None
    said = subprocess.run([found, "--version" if name in ("xt", "bsondump") else "-V"], text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
    number = re.search(r"\d+\.\d+(\.\d+)*", said)
    versions(**{name: number[0] if number else "unknown"})
    return found


def documents(data):
    """Returns JSON documents to build large files from: real ones, or generated ones."""
    names = ["twitter", "canada", "citm_catalog", "github_events", "gsoc-2018"]
    if data:
        return [json.loads((data / "json" / f"{name}.json").read_text()) for name in names]
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--regauge", default=str(ROOT / "target/release/regauge"))
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", choices=["json", "yaml", "bson", "marc"], help="the tables of one format")
    arguments = parser.parse_args()
    regauge = arguments.regauge
    want = arguments.megabytes * 1_000_000
    data = ROOT / "build/data"
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        make_inputs(regauge, folder, data if data.is_dir() else None, want)
        if arguments.only in (None, "json"):
            json_tables(regauge, folder, arguments.rounds)
            msgpack_tables(regauge, folder, arguments.rounds)
        if arguments.only in (None, "yaml"):
            yaml_tables(regauge, folder, data if data.is_dir() else None, want, arguments.rounds)
        if arguments.only in (None, "bson"):
            bson_tables(regauge, folder, arguments.rounds)
        if arguments.only in (None, "marc"):
            marc_tables(regauge, folder, arguments.rounds)


def make_inputs(regauge, folder, data, want):
    """Creates big.json (an array), big.ndjson (its elements), big.mrc, big.xml, catalog.ndjson."""
    elements = []
    if data:
        twitter, canada, citm, events, gsoc = documents(data)
        elements = twitter["statuses"] + events + list(gsoc.values())
        elements += list(citm["events"].values()) + citm["performances"]
        rings = canada["features"][0]["geometry"]["coordinates"]
        elements += [{"type": "Polygon", "coordinates": ring} for ring in rings[:120]]
    else:
        made = subprocess.run(
            [regauge, "sample", "types", "--count", "5000", "-", "--to", "ndjson"],
            capture_output=True,
            check=True,
        )
        elements = [json.loads(line) for line in made.stdout.splitlines()]
    lines = [
        json.dumps(element, ensure_ascii=False, separators=(",", ":")).encode()
        for element in elements
    ]
    total = sum(map(len, lines)) + len(lines)
    copies = max(1, want // total)
    with open(folder / "big.ndjson", "wb") as file:
        for _ in range(copies):
            file.writelines(line + b"\n" for line in lines)
    with open(folder / "big.json", "wb") as file:
        file.write(b"[")
        for copy in range(copies):
            file.write((b"," if copy else b"") + b",".join(lines))
        file.write(b"]\n")
    one = folder / "one.mrc"
    subprocess.run([regauge, "sample", "catalog", str(one)], check=True)
    with open(folder / "big.mrc", "wb") as file:
        for _ in range(max(1, want // one.stat().st_size)):
            file.write(one.read_bytes())
    subprocess.run([regauge, "convert", "-q", folder / "big.mrc", folder / "big.xml"], check=True)
    lines = folder / "one.ndjson"
    subprocess.run([regauge, "convert", "-q", one, lines], check=True)
    with open(folder / "catalog.ndjson", "wb") as file:
        for _ in range(max(1, round(want / lines.stat().st_size))):
            file.write(lines.read_bytes())


def json_tables(regauge, folder, rounds):
    """Measures JSON and NDJSON to MessagePack, and the same on two cores."""
    xt, json2msgpack = peer("xt"), peer("json2msgpack")
    for source in ("big.json", "big.ndjson", "catalog.ndjson"):
        path = folder / source
        out = folder / "out.msgpack"
        ours = [regauge, "convert", "-q", "-f", "--jobs", "1", str(path)]
        rows = [(OURS, ours, str(out))]
        if xt:
            peer_out = folder / "xt.msgpack"
            rows.append(("xt", [xt, "-t", "msgpack", str(path)], str(peer_out)))
            run(ours + [str(out)])
            run(rows[1][1], str(peer_out))
            compare(regauge, out, peer_out, folder)
        if json2msgpack and source == "big.json":
            peer_out = folder / "json2msgpack.msgpack"
            rows.append(("json2msgpack", [json2msgpack, "-i", str(path)], str(peer_out)))
        tables(f"{KINDS[source]} to MessagePack", path.stat().st_size, rows, rounds)
    path = folder / "big.ndjson"
    rows = [
        (f"regauge convert --jobs {jobs}",
         [regauge, "convert", "-q", "-f", "--jobs", str(jobs), str(path), str(out)], None)
        for jobs in (1, 2)
    ]
    samples = table("NDJSON to MessagePack over cores", path.stat().st_size, rows, rounds)
    one, two = (statistics.median(s[1] for s in samples[name]) for name, _, _ in rows)
    print(f"  by the clock {one / two:.2f}x faster on two")


def msgpack_tables(regauge, folder, rounds):
    """Measures MessagePack to JSON: the same data back."""
    path, out = folder / "big.msgpack", folder / "out.json"
    subprocess.run([regauge, "convert", "-q", "-f", folder / "big.json", path], check=True)
    rows = [(OURS, [regauge, "convert", "-q", "-f", "--jobs", "1", str(path)], str(out))]
    run(rows[0][1] + [str(out)])
    for name, flags in (("xt", ["-t", "json"]), ("msgpack2json", ["-i"])):
        if found := peer(name):
            rows.append((name, [found, *flags, str(path)], str(folder / f"xt.{name}.json")))
            run(*rows[-1][1:])
            compare(regauge, out, rows[-1][2], folder)
    tables("MessagePack to JSON", path.stat().st_size, rows, rounds)


# The whole file into memory, into a tree, and out again: what the library offers.
RAPIDYAML = """
import sys, ryml
with open(sys.argv[1], "rb") as file:
    tree = ryml.parse_in_arena(file.read())
sys.stdout.write(ryml.emit_{target}(tree))
"""


def yaml_tables(regauge, folder, data, want, rounds):
    """JSON to YAML and back, and YAML that people wrote, to JSON."""
    xt = peer("xt")
    big = folder / "big.yaml"
    subprocess.run([regauge, "convert", "-q", "-f", folder / "big.json", big], check=True)
    jobs = [(folder / "big.json", "yaml"), (big, "json")]
    real = data and data / "yaml/legislators-current.yaml"
    if real and real.is_file():
        # A sequence, so that repeating the file gives another one.
        piece, many = real.read_bytes(), folder / "legislators.yaml"
        with open(many, "wb") as file:
            for _ in range(max(1, want // len(piece))):
                file.write(piece)
        jobs.append((many, "json"))
    for path, target in jobs:
        out = folder / f"out.{target}"
        rows = [(OURS, [regauge, "convert", "-q", "-f", "--jobs", "1", str(path)], str(out))]
        if xt:
            rows.append(("xt", [xt, "-t", target, str(path)], str(folder / f"xt.{target}")))
        if has_rapidyaml():
            command = [sys.executable, "-c", RAPIDYAML.format(target=target), str(path)]
            rows.append(("rapidyaml (Python)", command, str(folder / f"rapidyaml.{target}")))
        run(rows[0][1] + [str(out)])
        if target == "yaml":
            compare(regauge, path, out, folder)
        for name, command, output in rows[1:]:
            run(command, output)
            # xt writes some text so that it reads as a number (`3E4415`); rapidyaml returns every
            # scalar that is not a JSON word as text.
            strict = name == "xt" and target == "json"
            compare(regauge, out, output, folder, strict=strict)
            pathlib.Path(output).unlink()
        tables(f"{KINDS[path.name]} to {target.upper()}", path.stat().st_size, rows, rounds)


# One document at a time, as pymongo reads a stream of them.
PYMONGO = """
import sys, bson, orjson
with open(sys.argv[1], "rb") as file:
    for document in bson.decode_file_iter(file):
        sys.stdout.buffer.write(orjson.dumps(document) + b"\\n")
"""


def bson_tables(regauge, folder, rounds):
    """A stream of BSON to canonical Extended JSON, and to plain JSON."""
    path, lines = folder / "big.bson", folder / "maps.ndjson"
    with open(folder / "big.ndjson", "rb") as source, open(lines, "wb") as target:
        target.writelines(line for line in source if line.startswith(b"{"))
    subprocess.run([regauge, "convert", "-q", "-f", lines, path], check=True)
    size = path.stat().st_size
    ours = [regauge, "convert", "-q", "-f", "--jobs", "1", str(path), "-", "--to", "ndjson"]
    if bsondump := peer("bsondump"):
        rows = [(OURS, [*ours, "--json-extended", "canonical"], str(folder / "out.canonical")),
                ("bsondump", [bsondump, "--quiet", str(path)], str(folder / "bsondump.canonical"))]
        same_lines(rows)
        table("BSON to canonical Extended JSON", size, rows, rounds)
    found = subprocess.run(
        [sys.executable, "-c", "import pymongo, orjson; print(pymongo.version, orjson.__version__)"],
        capture_output=True, text=True)
    if found.returncode != 0:
        print("not installed: pymongo and orjson", file=sys.stderr)
        return
    pymongo, orjson = found.stdout.split()
    versions(pymongo=pymongo, orjson=orjson)
    rows = [(OURS, ours, str(folder / "out.lines")),
            ("pymongo + orjson", [sys.executable, "-c", PYMONGO, str(path)], str(folder / "pymongo.lines"))]
    same_lines(rows)
    table("BSON to JSON", size, rows, rounds)


def same_lines(rows):
    """Asserts that the outputs contain the same documents, line by line."""
    for _, command, output in rows:
        run(command, output)
    with open(rows[0][2], "rb") as ours, open(rows[1][2], "rb") as theirs:
        for mine, other in zip(ours, theirs, strict=True):
            if mine != other and json.loads(mine) != json.loads(other):
                sys.exit(f"{rows[1][0]} writes another document: nothing is timed")


def has_rapidyaml():
    found = subprocess.run([sys.executable, "-c", "import ryml"], stderr=subprocess.DEVNULL)
    if found.returncode == 0:
        from importlib.metadata import version

        versions(rapidyaml=version("rapidyaml"))
    else:
        print("not installed: rapidyaml", file=sys.stderr)
    return found.returncode == 0


def compare(regauge, ours, theirs, folder, strict=True):
    """Asserts that two files contain the same documents, compared as NDJSON. A double may differ in
    its last digit, which is reported: xt's parser trades that for speed. A peer known to read some
    values differently is not excluded for it."""
    texts = []
    for index, path in enumerate((ours, theirs)):
        text = folder / f"compare{index}.ndjson"
        command = [regauge, "convert", "-q", "-f", path, text, "--documents", "split"]
        ran = subprocess.run(command, capture_output=not strict)
        if ran.returncode != 0:
            if strict:
                sys.exit("the peer's output cannot be read: nothing is timed")
            print("note: the peer wrote some values so that they read as others")
            return
        texts.append(text.read_bytes())
        text.unlink()
    if texts[0] == texts[1]:
        return
    lines = [text.splitlines() for text in texts]
    same = len(lines[0]) == len(lines[1]) and all(
        mine == other or alike(json.loads(mine), json.loads(other))
        for mine, other in zip(*lines)
    )
    if not same and strict:
        sys.exit("the peer's output holds another document: nothing is timed")
    print("note: the peer rounds some doubles to a neighbour" if same else
          "note: the peer reads some values as others")


def alike(mine, other):
    """Returns whether two values are equal, except for the last digit of doubles."""
    if type(mine) is not type(other):
        return False
    if isinstance(mine, float):
        return math.isclose(mine, other, rel_tol=1e-15)
    if isinstance(mine, list):
        return len(mine) == len(other) and all(map(alike, mine, other))
    if isinstance(mine, dict):
        return list(mine) == list(other) and all(map(alike, mine.values(), other.values()))
    return mine == other


def marc_tables(regauge, folder, rounds):
    """Measures MARC 21 to MARCXML and to MARC-in-JSON, MARCXML to MARC 21."""
    yaz = peer("yaz-marcdump")
    jobs = [
        ("big.mrc", "out.xml", ["-i", "marc", "-o", "marcxml", "-f", "utf-8", "-t", "utf-8"]),
        ("big.mrc", "out.marc.json", ["-i", "marc", "-o", "json", "-f", "utf-8", "-t", "utf-8"]),
        ("big.xml", "out.mrc", ["-i", "marcxml", "-o", "marc", "-f", "utf-8", "-t", "utf-8"]),
    ]
    for source, target, flags in jobs:
        path, out = folder / source, folder / target
        rows = [(OURS, [regauge, "convert", "-q", "-f", "--jobs", "1", str(path)], str(out))]
        if yaz:
            peer_out = folder / ("yaz-" + target)
            rows.append(("yaz-marcdump", [yaz, *flags, str(path)], str(peer_out)))
        tables(f"{KINDS[source]} to {KINDS[target]}", path.stat().st_size, rows, rounds)
        if yaz and target == "out.mrc" and out.read_bytes() != peer_out.read_bytes():
            print("  note: the two files differ; see docs/formats/marc.md")


if __name__ == "__main__":
    main()
