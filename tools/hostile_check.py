#!/usr/bin/env python3
"""Sends the command what an attacker would, in every format: reference bombs, deep nesting, lengths
without content. Each must be refused with exit status 1 within 64 MiB of memory.

    python3 tools/hostile_check.py --regauge target/release/regauge

The time of each is printed but not judged: it depends on the machine. On an idle one, all finish
within a tenth of a second.
"""

import argparse
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import time

MEMORY_KIB = 64 << 10
DEPTH = 200_000


def yaml_laughs():
    lines, last = ["a: &a [x,x,x,x,x,x,x,x,x]\n"], "a"
    for name in "bcdefghi":
        lines.append(f"{name}: &{name} [{','.join(['*' + last] * 9)}]\n")
        last = name
    return "".join(lines).encode()


def pickle_laughs():
    lists = [b"]\x94(" + b"K\x01" * 10 + b"e"]
    lists += [b"]\x94(" + (b"h" + bytes([number])) * 10 + b"e" for number in range(30)]
    return b"\x80\x04" + b"".join(lists) + b"."


def marshal_laughs():
    count = lambda number: bytes([number + 5])
    lists = [b"[" + count(10) + b"i\x06" * 10]
    lists += [b"[" + count(10) + (b"@" + count(number)) * 10 for number in range(1, 31)]
    return b"\x04\x08[" + count(31) + b"".join(lists)


def cbor_laughs():
    # Tag 28 makes a value shareable, tag 29 refers to it by its number (the value-sharing tags).
    lists = [b"\xd8\x1c\x8a" + b"\x01" * 10]
    for number in range(30):
        index = bytes([number]) if number < 24 else b"\x18" + bytes([number])
        lists.append(b"\xd8\x1c\x8a" + (b"\xd8\x1d" + index) * 10)
    return b"\x98" + bytes([len(lists)]) + b"".join(lists)


def inputs():
    most = 1 << 62
    yield "laughs.yaml", yaml_laughs()
    yield "laughs.pickle", pickle_laughs()
    yield "laughs.marshal", marshal_laughs()
    yield "laughs.cbor", cbor_laughs()
    yield "deep.json", b"[" * DEPTH
    yield "deep.ndjson", b'{"a":' * DEPTH
    yield "deep.yaml", b"[" * DEPTH
    yield "deep-blocks.yaml", b"".join(b" " * n + b"a:\n" for n in range(3000))
    yield "deep-keys.yaml", b"? " * DEPTH
    yield "deep.msgpack", b"\x91" * DEPTH
    yield "deep.cbor", b"\x81" * DEPTH
    yield "deep-tags.cbor", b"\xd8\x64" * DEPTH
    yield "deep.marshal", b"\x04\x08" + b"[\x06" * DEPTH
    yield "deep-objects.marshal", b"\x04\x08" + b"e:\x06A" + b"e;\x00" * DEPTH
    yield "deep.pickle", b"\x80\x04" + b"]" * DEPTH + b"a" * (DEPTH - 1) + b"."
    yield "length.msgpack", b"\xdd\xff\xff\xff\xff"
    yield "length-of-text.msgpack", b"\xdb\xff\xff\xff\xff"
    yield "length.cbor", b"\x9b" + struct.pack(">Q", most)
    yield "length-of-text.cbor", b"\x7b" + struct.pack(">Q", most)
    yield "length.bson", struct.pack("<i", 2**31 - 1) + b"\x02a\x00\xff\xff\xff\x7fx"
    yield "length.marshal", b"\x04\x08[\x04\xff\xff\xff\x7f"
    yield "length-of-bignum.marshal", b"\x04\x08l+\x04\xff\xff\xff\x7f"
    yield "length.pickle", b"\x80\x04\x8e" + struct.pack("<Q", most) + b"x."
    yield "length-of-long.pickle", b"\x80\x04\x8b" + struct.pack("<i", 2**31 - 1) + b"x."
    yield "digits.json", b"[" + b"9" * 1_000_000 + b"]"
    yield "digits.yaml", b"- " + b"9" * 1_000_000 + b"\n"
    yield "digits.pickle", b"L" + b"9" * 1_000_000 + b"L\n."


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--regauge", default="target/release/regauge")
    regauge = os.path.abspath(parser.parse_args().regauge)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, content in inputs():
            path = pathlib.Path(folder, name)
            path.write_bytes(content)
            output = pathlib.Path(folder, "out.msgpack")
            command = [regauge, "convert", "--quiet", "--objects", "data", str(path), str(output)]
            start = time.monotonic()
            process = subprocess.Popen(command, stderr=subprocess.PIPE)
            message = process.stderr.read().decode(errors="replace")
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            took = time.monotonic() - start
            fits = usage.ru_maxrss <= MEMORY_KIB
            # A count that the target cannot hold is refused because of the target; all else is
            # broken, or exceeds a limit.
            expected = 3 if name == "length.cbor" else 1
            refused = process.returncode == expected and message.startswith("regauge: ") and not output.exists()
            print(f"{name:<26}{took:7.3f} s {usage.ru_maxrss:8} KiB  exit {process.returncode}")
            if not (fits and refused):
                failed += 1
                print(f"    expected exit {expected} within {MEMORY_KIB} KiB, found {message[:300]!r}")
    print(f"hostile_check: {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
