#!/usr/bin/env python3
"""Converts gigabyte files and prints the peak resident memory of each conversion.

    python3 tools/memory_check.py [--regauge target/release/regauge] [--bytes 1000000000]
                                  [--only yaml] [--limit-mb 64]

Creates one JSON array, one NDJSON file, one YAML sequence and one MARC file of that size in the
temporary folder, by repeating a sample of documents, and removes them afterwards. Exits with 1 if a
conversion fails or exceeds the limit.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "benches"))

from record import record  # noqa: E402


def sample(regauge, kind, count, to):
    command = [regauge, "sample", kind, "-", "--count", str(count), "--to", to]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


def repeat(path, piece, size, before=b"", between=b"", after=b""):
    """Writes `piece` repeatedly until the file has that size."""
    with open(path, "wb") as file:
        file.write(before)
        written = 0
        while written < size:
            if written:
                file.write(between)
            written += file.write(piece)
        file.write(after)


NAMES = ("array.json", "lines.ndjson", "sequence.yaml", "catalog.mrc")


def make(regauge, folder, size):
    """Writes the inputs. This runs in a separate process: Linux counts the memory of the process
    that starts a command as the command's, so the measuring one must stay small."""
    types = sample(regauge, "types", 20_000, "ndjson")
    paths = {name: os.path.join(folder, name) for name in NAMES}
    array = b",\n".join(types.splitlines())
    repeat(paths["array.json"], array, size, b"[", b",\n", b"]\n")
    repeat(paths["lines.ndjson"], types, size)
    command = [regauge, "convert", "-", "-", "--from", "ndjson", "--to", "yaml", "--documents", "join"]
    sequence = subprocess.run(command, input=types, check=True, stdout=subprocess.PIPE).stdout
    repeat(paths["sequence.yaml"], sequence, size)
    repeat(paths["catalog.mrc"], sample(regauge, "catalog", 5_000, "marc"), size)


def drain(pipe):
    while pipe.read(1 << 20):
        pass


def run(command, stdin=None):
    """Returns exit status, peak resident bytes, CPU seconds and wall seconds of a command whose
    output goes to a pipe."""
    began = time.monotonic()
    process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE)
    reader = threading.Thread(target=drain, args=(process.stdout,))
    reader.start()
    _, status, usage = os.wait4(process.pid, 0)
    reader.join()
    process.stdout.close()
    process.returncode = os.waitstatus_to_exitcode(status)
    cpu = usage.ru_utime + usage.ru_stime
    # Kibibytes on Linux, bytes on macOS.
    unit = 1 if sys.platform == "darwin" else 1024
    return process.returncode, usage.ru_maxrss * unit, cpu, time.monotonic() - began


CASES = [
    ("array.json", "OUT.msgpack", []),
    ("array.json", "-", ["--to", "msgpack"]),
    ("array.json", "OUT.ndjson", []),
    ("array.json", "OUT.msgpack.zst", []),
    ("array.json", "OUT.yaml", []),
    ("lines.ndjson", "OUT.msgpack", []),
    ("lines.ndjson", "-", ["--to", "msgpack", "--documents", "join"]),
    ("lines.ndjson", "OUT.json", ["--jobs", "1"]),
    ("lines.ndjson", "OUT.json.gz", []),
    ("lines.ndjson", "OUT.yaml", []),
    ("sequence.yaml", "OUT.json", []),
    ("sequence.yaml", "-", ["--to", "ndjson"]),
    ("sequence.yaml", "OUT.msgpack", []),
    ("sequence.yaml", None, []),
    ("catalog.mrc", "OUT.xml", []),
    ("catalog.mrc", "-", ["--to", "marcxml", "--jobs", "1"]),
    ("catalog.mrc", "OUT.marc.json", ["--bad", "skip"]),
    ("catalog.mrc", "OUT.msgpack", []),
    ("catalog.mrc", None, []),
    ("array.json", None, []),
    ("lines.ndjson", "OUT.cbor", ["--on-loss", "wrap"]),
    ("OUT.cbor", "OUT.ndjson", ["--on-loss", "wrap"]),
    ("lines.ndjson", "OUT.bson", ["--on-loss", "wrap"]),
    ("OUT.bson", "OUT.ndjson", ["--on-loss", "wrap"]),
    ("lines.ndjson", "OUT.marshal", ["--on-loss", "wrap"]),
    ("OUT.marshal", "OUT.ndjson", ["--on-loss", "wrap"]),
    ("lines.ndjson", "OUT.pickle", ["--on-loss", "wrap"]),
    ("OUT.pickle", "OUT.ndjson", ["--on-loss", "wrap"]),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--regauge", default="target/release/regauge", help="the binary")
    parser.add_argument("--make", metavar="FOLDER", help=argparse.SUPPRESS)
    parser.add_argument("--bytes", type=int, default=1_000_000_000, help="the size of each input")
    parser.add_argument("--only", default="", help="the cases whose files have this in their names")
    parser.add_argument("--limit-mb", type=float, default=64, help="in units of 10^6 bytes")
    arguments = parser.parse_args()
    regauge = os.path.abspath(arguments.regauge)
    if arguments.make:
        make(regauge, arguments.make, arguments.bytes)
        return 0
    failed = False
    with tempfile.TemporaryDirectory(prefix="regauge-memory-") as folder:
        command = [sys.executable, __file__, "--make", folder, "--regauge", regauge]
        subprocess.run([*command, "--bytes", str(arguments.bytes)], check=True)
        _, floor, _, _ = run(["true"])
        print(f"{floor / 1e6:7.1f} MB  of this is what any command is shown with here")
        for name, output, options in CASES:
            if arguments.only not in f"{name} {output}":
                continue
            path = os.path.join(folder, name)
            if output is None:
                command = [regauge, "inspect", path, *options]
                shown = f"inspect {name}"
            else:
                target = output if output == "-" else os.path.join(folder, output)
                command = [regauge, "convert", path, target, *options]
                shown = " ".join(["convert", name, output, *options])
            status, peak, cpu, took = run(command)
            size = os.path.getsize(path)
            record("peak memory", shown, "regauge", [peak / 1e6], unit="MB", size=size)
            good = status == 0 and peak <= arguments.limit_mb * 1e6
            failed |= not good
            print(
                f"{peak / 1e6:7.1f} MB  {size / 1e6 / cpu:7.0f} MB per CPU second  {took:6.1f} s  "
                f"{shown}{'' if good else f'  <-- FAILED (status {status})'}",
                flush=True,
            )
            # The next case's input stays until then.
            if name.startswith("OUT."):
                os.remove(path)
            if output not in (None, "-") and not any(output == other for other, _, _ in CASES):
                os.remove(target)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
