#!/usr/bin/env python3
"""Makes a big RDB file from a small one, by repeating its keys under new names.

    python3 tools/caches_big_rdb.py FOLDER/dump.rdb big.rdb --gigabytes 10
    python3 tools/caches_big_rdb.py FOLDER/dump.rdb - --gigabytes 10 | regauge xray --from rdb -

Values are copied as they are stored, with their expiry, so each of them is one that Redis wrote. The first copy has
the keys of the small file, the others `KEY:1`, `KEY:2` and so on. The checksum is 0, which Redis takes as none;
`--checksum` computes it, at a few megabytes per second. Modules and functions are refused.
"""

import argparse
import sys
import time
from pathlib import Path

# What follows the key, for each type of rdb.h.
SHAPES = {0: "string", 1: "strings", 2: "strings", 3: "text scores", 4: "pairs", 5: "scores", 9: "string", 10: "string",
          11: "string", 12: "string", 13: "string", 14: "strings", 15: "stream", 16: "string", 17: "string", 18: "nodes",
          19: "stream", 20: "string", 21: "stream"}


class Opcode:
    """The opcodes of rdb.h."""

    IDLE, FREQUENCY, AUX, RESIZE_DB, EXPIRE_MS, EXPIRE_S, SELECT_DB, END = range(248, 256)


class Refused(Exception):
    """The file has what cannot be repeated; the text says what and where."""


class Rdb:
    """Finds where the parts of an RDB file begin and end. No value is decoded."""

    def __init__(self, data):
        if data[:5] != b"REDIS":
            raise Refused("found no REDIS at the beginning")
        self.data, self.at = data, 9

    def length(self):
        """Reads a length. Returns it, and whether it is a special encoding of a string."""
        first = self.data[self.at]
        self.at += 1
        match first >> 6:
            case 0:
                return first & 63, False
            case 1:
                self.at += 1
                return (first & 63) << 8 | self.data[self.at - 1], False
            case 2:
                size = 8 if first == 0x81 else 4
                self.at += size
                return int.from_bytes(self.data[self.at - size:self.at], "big"), False
        return first & 63, True

    def string(self):
        """Passes a string, and returns its bytes if it is neither a number nor compressed."""
        size, special = self.length()
        if not special:
            self.at += size
            return self.data[self.at - size:self.at]
        if size < 3:
            number = int.from_bytes(self.data[self.at:self.at + (1 << size)], "little", signed=True)
            self.at += 1 << size
            return str(number).encode()
        if size == 3:
            packed, original = self.length()[0], self.length()[0]
            self.at += packed
            return unpack(self.data[self.at - packed:self.at], original)
        raise Refused(f"byte {self.at}: found an unknown encoding of a string")

    def number(self):
        return self.length()[0]

    def value(self, kind):
        """Passes a value of some type."""
        match SHAPES.get(kind):
            case "string":
                self.string()
            case "strings":
                for _ in range(self.number()):
                    self.string()
            case "pairs":
                for _ in range(2 * self.number()):
                    self.string()
            case "scores":
                for _ in range(self.number()):
                    self.string()
                    self.at += 8
            case "text scores":
                for _ in range(self.number()):
                    self.string()
                    size = self.data[self.at]
                    self.at += 1 + (size if size < 253 else 0)
            case "nodes":
                for _ in range(self.number()):
                    self.number()
                    self.string()
            case "stream":
                self.stream(kind)
            case _:
                raise Refused(f"byte {self.at}: found type {kind}, which this program cannot copy")

    def stream(self, kind):
        for _ in range(self.number()):
            self.string()
            self.string()
        # Length and last identifier; since 7.0 the first one, the greatest deleted one, and how many were added.
        for _ in range(3 if kind == 15 else 8):
            self.number()
        for _ in range(self.number()):
            self.string()
            for _ in range(2 if kind == 15 else 3):
                self.number()
            for _ in range(self.number()):
                self.at += 16 + 8
                self.number()
            for _ in range(self.number()):
                self.string()
                self.at += 8 if kind < 21 else 16
                for _ in range(self.number()):
                    self.at += 16

    def read(self):
        """Returns the head of the file, and for each database its keys: what precedes a key, the key, its value."""
        head, databases, keys, prefix = None, {}, None, self.at
        while True:
            began = self.at
            kind = self.data[self.at]
            self.at += 1
            match kind:
                # What belongs to the file.
                case Opcode.AUX:
                    self.string()
                    self.string()
                case Opcode.SELECT_DB:
                    head = head or self.data[:began]
                    keys = databases.setdefault(self.number(), [])
                case Opcode.RESIZE_DB:
                    self.number()
                    self.number()
                case Opcode.END:
                    return head or self.data[:began], databases
                # What belongs to the key that follows.
                case Opcode.EXPIRE_MS:
                    self.at += 8
                    continue
                case Opcode.EXPIRE_S:
                    self.at += 4
                    continue
                case Opcode.FREQUENCY:
                    self.at += 1
                    continue
                case Opcode.IDLE:
                    self.number()
                    continue
                case _:
                    named = self.at
                    key = self.string()
                    began = self.at
                    self.value(kind)
                    keys.append((self.data[prefix:named], key, self.data[began:self.at]))
            prefix = self.at


def unpack(packed, size):
    """Decompresses LZF, which Redis uses for long keys too."""
    out, at = bytearray(), 0
    while at < len(packed):
        control = packed[at]
        at += 1
        if control < 32:
            out += packed[at:at + control + 1]
            at += control + 1
            continue
        count = control >> 5
        if count == 7:
            count += packed[at]
            at += 1
        start = len(out) - ((control & 31) << 8 | packed[at]) - 1
        at += 1
        for place in range(start, start + count + 2):
            out.append(out[place])
    if len(out) != size:
        raise Refused("found LZF of another length than it says")
    return bytes(out)


def written_length(size):
    if size < 1 << 6:
        return bytes([size])
    if size < 1 << 14:
        return (size | 1 << 14).to_bytes(2, "big")
    return b"\x80" + size.to_bytes(4, "big") if size < 1 << 32 else b"\x81" + size.to_bytes(8, "big")


def chunks(data, wanted):
    """Yields the pieces of a file of at least some bytes."""
    head, databases = Rdb(data).read()
    if not any(databases.values()):
        raise Refused("found no keys to repeat")
    yield head
    size, copy = len(head), 0
    while size < wanted or not copy:
        suffix = f":{copy}".encode() if copy else b""
        for database, keys in databases.items():
            out = [bytes([Opcode.SELECT_DB]) + written_length(database)]
            for prefix, key, value in keys:
                named = key + suffix
                out += prefix, written_length(len(named)), named, value
            piece = b"".join(out)
            size += len(piece)
            yield piece
            if size >= wanted and copy:
                break
        copy += 1
    yield bytes([Opcode.END])


def crc_table():
    """Returns the table of CRC-64 as Redis computes it: the polynomial of Jones, reflected."""
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x95AC9329AC4BC9B5 if byte & 1 else 0)
        table.append(byte)
    return table


def checksum(table, data, crc):
    for byte in data:
        crc = table[(crc ^ byte) & 255] ^ crc >> 8
    return crc


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("dump", help="the RDB file whose keys are repeated")
    parser.add_argument("output", help="the file to write; - for standard output")
    parser.add_argument("--gigabytes", type=float, default=10, help="at least this many (10)")
    parser.add_argument("--checksum", action="store_true", help="compute the checksum instead of writing 0")
    options = parser.parse_args()
    began, size, crc = time.monotonic(), 0, 0
    table = crc_table() if options.checksum else None
    out = sys.stdout.buffer if options.output == "-" else open(options.output, "wb")
    try:
        with out:
            for piece in chunks(Path(options.dump).read_bytes(), options.gigabytes * 1e9):
                out.write(piece)
                size += len(piece)
                if table:
                    crc = checksum(table, piece, crc)
            out.write(crc.to_bytes(8, "little"))
    except BrokenPipeError:
        # The reader has stopped.
        return 0
    except Refused as why:
        print(f"caches_big_rdb: {options.dump}: {why}", file=sys.stderr)
        return 1
    print(f"{size + 8:,} bytes in {time.monotonic() - began:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
