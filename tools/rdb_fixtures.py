#!/usr/bin/env python3
"""Writes crates/regauge-sources/tests/files: small dumps of Redis and Valkey, each with what is in it as lines of text,
and broken dumps, whose messages the tests keep in messages.txt.

    python3 tools/rdb_fixtures.py

Needs redis-server, of Debian 12: 7.0. It writes the dumps `server-*`. Those named `old-*` are put together here, as
versions 1 to 9 laid them out; the server loads them and tells what is in them. So the tests compare two readers. The
server knows nothing of what `new-*` have, from versions 11 to 13 and Valkey's 80: their lines are written here as
well. Run it again only to add files: a dump tells when it was written.
"""

import pathlib
import shutil
import socket
import struct
import subprocess
import tempfile
import time

FILES = pathlib.Path(__file__).resolve().parent.parent / "crates/regauge-sources/tests/files"
VALID, INVALID = FILES / "valid", FILES / "invalid"
# Any moment that is far away: keys that have expired would not be loaded.
LATER = 4_102_444_800_123


# Lines: what the tests compare with.

def escaped(data):
    """Bytes as Rust's `escape_ascii` shows them."""
    named = {9: "\\t", 10: "\\n", 13: "\\r", 34: '\\"', 39: "\\'", 92: "\\\\"}
    return "".join(named.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\x{byte:02x}") for byte in data)


def shown(data):
    """Bytes, of which many are shown as their number and a hash (FNV-1a)."""
    if len(data) <= 100:
        return escaped(data)
    sum = 0xCBF29CE484222325
    for byte in data:
        sum = (sum ^ byte) * 0x100000001B3 % 2**64
    return f"{len(data)} bytes, {sum:016x}"


def score(number):
    return "score " + struct.pack(">d", number).hex()


def field(name):
    return "field " + shown(name)


def line(key, kind, value=None, part=None, database=0, expires=None, part_expires=None, idle=None, frequency=None):
    parts = [database, kind, shown(key), part, None if value is None else shown(value), expires, part_expires, idle,
             frequency]
    return "\t".join("-" if one is None else str(one) for one in parts)


def write(folder, name, dump, lines=None):
    (folder / f"{name}.rdb").write_bytes(dump)
    if lines is not None:
        (folder / f"{name}.txt").write_text("".join(one + "\n" for one in sorted(lines)))


# The server.

class Server:
    """A server with a folder of its own, and a connection to it."""

    def __init__(self, *options, dump=None):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="rdb-fixtures-"))
        if dump:
            (self.folder / "dump.rdb").write_bytes(dump)
        command = ["redis-server", "--port", "0", "--unixsocket", "s", "--save", "", "--dir", self.folder,
                   "--enable-debug-command", "yes", *options]
        self.log = open(self.folder / "log", "wb")
        self.process = subprocess.Popen(command, cwd=self.folder, stdout=self.log)
        self.socket = socket.socket(socket.AF_UNIX)
        for _ in range(100):
            try:
                self.socket.connect(str(self.folder / "s"))
                break
            except OSError:
                time.sleep(0.05)
        else:
            raise SystemExit((self.folder / "log").read_text())
        self.file = self.socket.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.log.close()
        shutil.rmtree(self.folder)

    def __call__(self, *words):
        words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        request = b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)
        self.socket.sendall(request)
        return self.reply()

    def reply(self):
        head = self.file.readline()
        kind, rest = head[:1], head[1:-2]
        if kind == b"-":
            raise SystemExit(rest.decode())
        if kind in b"+,":
            return rest
        if kind == b":":
            return int(rest)
        if int(rest) < 0:
            return None
        if kind == b"$":
            data = self.file.read(int(rest) + 2)
            return data[:-2]
        return [self.reply() for _ in range(int(rest))]

    def dump(self):
        self("SAVE")
        return (self.folder / "dump.rdb").read_bytes()

    def lines(self, databases=(0,), used=()):
        found = []
        for database in databases:
            self("SELECT", database)
            for key in self("KEYS", "*"):
                about = {"database": database}
                about["expires"] = expires if (expires := self("PEXPIRETIME", key)) >= 0 else None
                if "idle" in used:
                    about["idle"] = self("OBJECT", "IDLETIME", key)
                if "frequency" in used:
                    about["frequency"] = self("OBJECT", "FREQ", key)
                found += [line(key, kind, value, part, **about) for kind, value, part in self.values(key)]
        return found

    def values(self, key):
        kind = self("TYPE", key).decode()
        pairs = lambda flat: zip(flat[::2], flat[1::2])
        if kind == "string":
            return [(kind, self("GET", key), None)]
        if kind == "list":
            return [(kind, value, f"index {at}") for at, value in enumerate(self("LRANGE", key, 0, -1))]
        if kind == "set":
            return [(kind, value, "member") for value in self("SMEMBERS", key)]
        if kind == "zset":
            return [(kind, value, score(float(number))) for value, number in
                    pairs(self("ZRANGE", key, 0, -1, "WITHSCORES"))]
        if kind == "hash":
            return [(kind, value, field(name)) for name, value in pairs(self("HGETALL", key))]
        return [(kind, None, None)]


INTEGERS = [0, 1, 12, 13, -1, 127, -128, 128, 4095, -4096, 4096, 32767, -32768, 32768, 8388607, -8388608, 8388608,
            2**31 - 1, -2**31, 2**31, 2**63 - 1, -2**63]
TEXTS = [b"", b"a", b"\x00\xff", "é".encode(), b"x" * 63, b"x" * 64, b"y" * 4095, b"y" * 4096, b"z" * 17000,
         b"007", b"-0", b"1.5", b"12 "]


def strings(server):
    for number in INTEGERS:
        server("SET", f"n:{number}", number)
    for at, text in enumerate(TEXTS):
        server("SET", f"t:{at}", text)
    server("SET", b"\xff\x00 key", "value")
    server("SET", "later", "value", "PXAT", LATER)
    # No compression shortens this: 14 and 32 bits of length, byte by byte.
    mixed = b"".join(struct.pack("<Q", at * 0x9E3779B97F4A7C15 % 2**64) for at in range(2200))
    server("SET", "mixed:100", mixed[:100])
    server("SET", "mixed:17600", mixed)
    server("SET", "repeated", bytes(range(256)) * 20 + b"\0" * 5000)


def values(server):
    everything = INTEGERS + TEXTS
    server("RPUSH", "list", *everything)
    server("SADD", "set", *everything)
    server("HSET", "hash", *[one for at, value in enumerate(everything) for one in (f"f{at}", value)])
    server("HSET", "hash", *[one for number in INTEGERS for one in (number, "n")])
    numbers = [0, -1, 1.5, 1e100, -1e-100, 3, 2**53, "inf", "-inf", 0.1]
    server("ZADD", "zset", *[one for at, number in enumerate(numbers) for one in (number, f"m{at}")])
    server("ZADD", "zset", *[one for number in INTEGERS for one in (number, number)])
    server("HSET", "small", "a", 1, "b", "x")
    server("ZADD", "scores", 1, "a", 2.5, "b")
    server("SADD", "set:16", 1, -2, 300)
    server("SADD", "set:32", 1, -2, 70000)
    server("SADD", "set:64", 1, -2, 2**40)
    server("PEXPIREAT", "small", LATER)


LIBRARY = "#!lua name=regauge\nredis.register_function('f', function() return 1 end)"


def server_dumps():
    """Writes what the server lays out itself, under settings that choose the layouts."""
    with Server() as server:
        strings(server)
        write(VALID, "server-strings", server.dump(), server.lines())
    with Server("--rdbcompression", "no", "--rdbchecksum", "no") as server:
        strings(server)
        write(VALID, "server-unchecked", server.dump(), server.lines())
    most = ["--hash-max-listpack-entries", "1000", "--hash-max-listpack-value", "100000",
            "--zset-max-listpack-entries", "1000", "--zset-max-listpack-value", "100000"]
    with Server(*most, "--rdbcompression", "no") as server:
        values(server)
        write(VALID, "server-small", server.dump(), server.lines())
    least = ["--hash-max-listpack-entries", "0", "--zset-max-listpack-entries", "0", "--set-max-intset-entries", "0",
             "--list-max-listpack-size", "3"]
    with Server(*least) as server:
        # Elements from this length on are alone.
        server("DEBUG", "QUICKLIST-PACKED-THRESHOLD", "5000B")
        values(server)
        write(VALID, "server-large", server.dump(), server.lines())
    for policy, used in (("allkeys-lru", "idle"), ("allkeys-lfu", "frequency")):
        with Server("--maxmemory-policy", policy) as server:
            # Not a small number, of which the server keeps one object for all keys.
            server("SET", "a", "text")
            payload = server("DUMP", "a")
            for key, count in (("b", 200), ("c", 77)):
                server("RESTORE", key, LATER, payload, "ABSTTL", "IDLETIME" if used == "idle" else "FREQ", count)
            write(VALID, f"server-{used}", server.dump(), server.lines(used=[used]))
    with Server() as server:
        for database in (0, 3, 15):
            server("SELECT", database)
            server("SET", "user:1", f"in {database}")
        write(VALID, "server-databases", server.dump(), server.lines(databases=(0, 3, 15)))
        server("FLUSHALL")
        write(VALID, "server-empty", server.dump(), [])
    with Server() as server:
        server("FUNCTION", "LOAD", LIBRARY)
        for at in range(300):
            server("XADD", "stream", "*", "at", at, "same", "text")
        server("XGROUP", "CREATE", "stream", "group", 0)
        server("XREADGROUP", "GROUP", "group", "ada", "COUNT", 7, "STREAMS", "stream", ">")
        server("XREADGROUP", "GROUP", "group", "bob", "COUNT", 2, "STREAMS", "stream", ">")
        server("XDEL", "stream", server("XRANGE", "stream", "-", "+", "COUNT", 1)[0][0])
        server("XADD", "empty", "*", "a", 1)
        server("XTRIM", "empty", "MAXLEN", 0)
        server("SET", "after", "the streams")
        write(VALID, "server-streams", server.dump(), server.lines())


# Dumps that are put together here.

def length(number):
    if number < 64:
        return bytes([number])
    if number < 1 << 14:
        return bytes([0x40 | number >> 8, number & 255])
    return b"\x80" + struct.pack(">I", number) if number < 1 << 32 else b"\x81" + struct.pack(">Q", number)


def string(data):
    data = data if isinstance(data, bytes) else str(data).encode()
    return length(len(data)) + data


def integer(number, width):
    return bytes([0xC0 | {1: 0, 2: 1, 4: 2}[width]]) + number.to_bytes(width, "little", signed=True)


def lzf(data):
    """Bytes in literal steps alone, but for the last ones, which are all the same."""
    alike = len(data) - len(data.rstrip(data[-1:]))
    head, steps = data[: len(data) - alike + 1], b""
    for at in range(0, len(head), 32):
        steps += bytes([len(head[at:at + 32]) - 1]) + head[at:at + 32]
    left = alike - 1
    while left > 2:
        take = min(left, 264)
        steps += bytes([take - 2 << 5, 0]) if take < 9 else bytes([7 << 5, take - 9, 0])
        left -= take
    if left:
        steps += bytes([left - 1]) + data[-left:]
    return b"\xc3" + length(len(steps)) + length(len(data)) + steps


def ziplist(*entries):
    body, before, last = b"", 0, 10
    for entry in entries:
        last = 10 + len(body)
        head = bytes([before]) if before < 254 else b"\xfe" + struct.pack("<I", before)
        if isinstance(entry, int):
            widths = [(1, 0xFE), (2, 0xC0), (3, 0xF0), (4, 0xD0), (8, 0xE0)]
            width, code = next(one for one in widths if -(1 << 8 * one[0] - 1) <= entry < 1 << 8 * one[0] - 1)
            data = bytes([0xF1 + entry]) if 0 <= entry <= 12 else \
                bytes([code]) + entry.to_bytes(width, "little", signed=True)
        elif len(entry) < 64:
            data = bytes([len(entry)]) + entry
        elif len(entry) < 1 << 14:
            data = bytes([0x40 | len(entry) >> 8, len(entry) & 255]) + entry
        else:
            data = b"\x80" + struct.pack(">I", len(entry)) + entry
        body += head + data
        before = len(head + data)
    return struct.pack("<IIH", 11 + len(body), last, len(entries)) + body + b"\xff"


def listpack(*entries):
    body = b""
    for entry in entries:
        if isinstance(entry, int):
            data = bytes([entry]) if 0 <= entry < 128 else b"\xf4" + entry.to_bytes(8, "little", signed=True)
        else:
            data = bytes([0x80 | len(entry)]) + entry if len(entry) < 64 else \
                bytes([0xE0 | len(entry) >> 8, len(entry) & 255]) + entry
        assert len(data) < 16383
        body += data + (bytes([len(data)]) if len(data) < 128 else bytes([len(data) >> 7, 0x80 | len(data) & 127]))
    return struct.pack("<IH", 7 + len(body), len(entries)) + body + b"\xff"


def zipmap(*pairs):
    body = b""
    for name, value in pairs:
        size = lambda data: bytes([len(data)]) if len(data) < 254 else b"\xfe" + struct.pack("<I", len(data))
        body += size(name) + name + size(value) + b"\x02" + value + b"--"
    return bytes([min(len(pairs), 254)]) + body + b"\xff"


def intset(width, *numbers):
    return struct.pack("<II", width, len(numbers)) + b"".join(
        number.to_bytes(width, "little", signed=True) for number in sorted(numbers))


def crc64(data):
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ 0x95AC9329AC4BC9B5 if crc & 1 else crc >> 1
    return crc


def dump(version, *pieces, valkey=False, checksum=None):
    head = b"VALKEY%03d" % version if valkey else b"REDIS%04d" % version
    data = head + b"".join(pieces) + b"\xff"
    if version < 5:
        return data
    return data + struct.pack("<Q", crc64(data) if checksum is None else checksum)


def key(code, name, value):
    return bytes([code]) + string(name) + value


def textual(number):
    return {"nan": b"\xfd", "inf": b"\xfe", "-inf": b"\xff"}.get(number) or string(str(number))


def members(values, number=None):
    values = list(values)
    return length(len(values) if number is None else number) + b"".join(values)


DATABASE = b"\xfe\x00"
AUX = b"\xfa" + string("redis-ver") + string("2.8.0") + b"\xfa" + string("redis-bits") + integer(64, 1)


def old():
    """Layouts that the server reads, but no longer writes."""
    words = [b"one", b"", b"x" * 64, b"y" * 16384]
    numbers = INTEGERS
    first = [key(0, "text", string("value")), key(0, "number", integer(-5, 1)), key(0, "wide", integer(70000, 4)),
             key(0, "middle", integer(-300, 2)), key(0, "lzf", lzf(b"abc" * 20 + b"z" * 700)),
             key(1, "list", members([string("a"), integer(7, 1), string("")])),
             key(2, "set", members([string("a"), integer(7, 1)])),
             key(3, "zset", members([string("a") + textual("1.5"), string("b") + textual("inf"),
                                     string("c") + textual("-inf"), string("d") + textual(-3)])),
             key(4, "hash", members([string("f") + string("v"), string("g") + integer(1000, 2)], 2))]
    seconds = b"\xfd" + struct.pack("<i", LATER // 1000 - 2_000_000_000)
    packed = [key(9, "zipmap", string(zipmap((b"f", b"v"), (b"long", b"w" * 300)))),
              key(10, "ziplist", string(ziplist(*words, *numbers))),
              key(10, "ziplist:lzf", lzf(ziplist(1, 2, b"a" * 60))),
              key(11, "intset:16", string(intset(2, *range(-5, 5)))),
              key(11, "intset:32", string(intset(4, 1, -70000))), key(11, "intset:64", lzf(intset(8, 1, 2**62, 0))),
              key(12, "scored", string(ziplist(b"a", 1, b"b", b"2.5", 3, b"inf", 4, b"-1e+30"))),
              key(13, "paired", string(ziplist(b"f", b"v", b"g", 12, 13, b"x" * 300)))]
    quick = [key(14, "quicklist", members([string(ziplist(b"a", 1)), lzf(ziplist(b"b" * 40)),
                                           string(ziplist(2, b"y" * 300, 3))]))]
    stream = members([], 0) + length(0) + length(5) + length(6)
    groups = members([string("group") + length(5) + length(0) + members([]) + members([string("ada") + bytes(8)
                                                                                    + members([])])])
    versions = {
        1: [DATABASE, *first, seconds, key(0, "later", string("value"))],
        2: [DATABASE, *first, packed[0]],
        3: [DATABASE, b"\xfc", struct.pack("<q", LATER), *packed],
        5: [DATABASE, *packed, b"\xfe\x02", *first],
        6: [DATABASE, *packed, *first[5:]],
        7: [AUX, DATABASE, b"\xfb", length(3), length(0), *quick, packed[1]],
        8: [AUX, DATABASE, key(5, "zset:2", members([string("a") + struct.pack("<d", 0.1)])), *first[:2]],
        9: [AUX, DATABASE, key(15, "stream", stream + groups), b"\xf8", length(100), key(0, "idle", string("a")),
            key(0, "wide", b"\x81" + struct.pack(">Q", 3) + b"abc"), key(0, "also wide", b"\x80\0\0\0\x01a")],
    }
    for version, pieces in versions.items():
        data = dump(version, *pieces)
        with Server(dump=data) as server:
            used = ["idle"] if version == 9 else []
            lines = server.lines(databases=(0, 2))
            if used:
                lines = [one[:-3] + "100\t-" if "\tidle\t" in one else one for one in lines]
        write(VALID, f"old-{version}", data, lines)


def new():
    """Layouts of newer servers."""
    text = line(b"text", "string", b"value")
    simple = key(0, "text", string("value"))
    library = b"\xf5" + string(LIBRARY)
    write(VALID, "new-11", dump(11, AUX, library, DATABASE, b"\xf4" + length(5) + length(1) + length(0),
                                key(20, "set", string(listpack(b"a", 5, b"b" * 100))),
                                key(21, "stream", members([string(b"\0" * 16) + string(listpack(1, 0, 1))])
                                    + length(1) + length(1) * 7 + members([string("g") + length(1) * 2
                                    + b"\x81" + b"\xff" * 8 + members([bytes(24) + length(1)])
                                    + members([string("ada") + bytes(16) + members([bytes(16)])])])), simple),
          [text, line(b"set", "set", b"a", "member"), line(b"set", "set", b"5", "member"),
           line(b"set", "set", b"b" * 100, "member"), line(b"stream", "stream")])
    pairs = [(b"f", b"v", None), (b"g", b"12", LATER), (b"h", b"", LATER + 5)]
    lines = lambda name: [line(name, "hash", value, field(part), part_expires=expires)
                          for part, value, expires in pairs]
    absolute = members([length(expires or 0) + string(part) + string(value) for part, value, expires in pairs])
    relative = struct.pack("<q", LATER) + members(
        [length(expires - LATER + 1 if expires else 0) + string(part) + string(value) for part, value, expires in pairs])
    flat = listpack(b"g", 12, LATER, b"h", b"", LATER + 5, b"f", b"v", 0)
    write(VALID, "new-12", dump(12, AUX, DATABASE, key(22, "22", absolute), key(23, "23", string(flat)),
                                key(24, "24", relative), key(25, "25", struct.pack("<q", LATER) + string(flat)),
                                b"\xfc" + struct.pack("<q", LATER), simple),
          [*lines(b"22"), *lines(b"23"), *lines(b"24"), *lines(b"25"),
           line(b"text", "string", b"value", expires=LATER)])
    group = members([string("g") + length(1) * 3 + members([bytes(24) + length(1)])
                     + members([string("ada") + bytes(16) + members([bytes(16)])])])
    nacked = members([string("g") + length(1) * 3 + members([]) + members([]) + members([bytes(16)])])
    producers = length(100) * 2 + members([string("p") + members([string("id") + length(1) * 2])]) + length(1) * 2
    node = members([string(b"\0" * 16) + string(listpack(1, 0, 1))]) + length(1) * 8
    module = length(0x0123456789ABCDEF) + b"".join(
        [length(1), length(7), length(2), length(7), length(3), bytes(4), length(4), bytes(8), length(5), string("s"),
         length(5), integer(5, 1), length(0)])
    write(VALID, "new-13", dump(13, AUX, b"\xf7" + length(0x0123456789ABCDEF) + length(2) + length(1) + length(0),
                                DATABASE, key(26, "26", node + group + producers),
                                key(27, "27", node + nacked + producers),
                                b"\xf3" + length(1) + bytes(4) + length(5) + string("s") + length(0),
                                key(7, "module", module), simple),
          [text, line(b"26", "stream"), line(b"27", "stream"), line(b"module", "module")])
    later = members([string(part) + string(value) + struct.pack("<q", -1 if expires is None else expires)
                     for part, value, expires in pairs])
    slots = b"\xf3" + string("job") + members([length(0) + length(5)])
    write(VALID, "valkey-80", dump(80, b"\xfa" + string("valkey-ver") + string("9.0.0"), slots, DATABASE,
                                   b"\xf4" + length(5) + length(1) + length(0), key(22, "22", later), simple,
                                   valkey=True), [*lines(b"22"), text])
    # A version to come, with nothing in it that is new but what Redis Enterprise adds.
    write(VALID, "future-99", dump(99, DATABASE, b"\x6b" + length(9), simple), [text])
    write(VALID, "appended", dump(9, DATABASE, simple) + b"*1\r\n$4\r\nPING\r\n", [text])


def broken():
    """Dumps with one fault each."""
    simple = key(0, "text", string("value"))
    cases = {
        "empty": b"",
        "gzip": b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03",
        "no-version": b"REDISabcd",
        "version-0": dump(0, DATABASE),
        "cut": dump(9, DATABASE, simple)[:20],
        "checksum": dump(9, DATABASE, simple, checksum=5),
        "checksum-cut": dump(9, DATABASE, simple)[:-3],
        "type": dump(9, DATABASE, simple, key(28, "new", string("value"))),
        "opcode": dump(9, DATABASE, simple, b"\xc8"),
        "module-1": dump(8, DATABASE, key(6, "module", length(5))),
        "module-kind": dump(8, DATABASE, key(7, "module", length(5) + length(9))),
        "length-form": dump(9, DATABASE, key(0, "text", b"\x82\0\0\0\0")),
        "length-encoded": dump(9, DATABASE, key(1, "list", b"\xc0\x01")),
        "string-form": dump(9, DATABASE, key(0, "text", b"\xc4\0\0")),
        "long": dump(9, DATABASE, key(0, "text", b"\x81\x00\x00\x00\xff\xff\xff\xff\xff")),
        "claims": dump(9, DATABASE, key(0, "text", b"\x80\x1f\xff\xff\xff")),
        "many": dump(9, DATABASE, key(1, "list", b"\x81\xff\xff\xff\xff\xff\xff\xff\xff")),
        "lzf-cut": dump(9, DATABASE, key(0, "text", b"\xc3\x02\x09\x05a")),
        "lzf-before": dump(9, DATABASE, key(0, "text", b"\xc3\x04\x09\x00a\x20\x05")),
        "lzf-length": dump(9, DATABASE, key(0, "text", b"\xc3\x02\x09\x00a")),
        "lzf-bomb": dump(9, DATABASE, key(0, "text", b"\xc3\x02\x80\x10\x00\x00\x00\x00a")),
        "ziplist-length": dump(9, DATABASE, key(10, "list", string(ziplist(1, 2)[:-1]))),
        "ziplist-end": dump(9, DATABASE, key(10, "list", string(ziplist(1, 2)[:-1] + b"\0"))),
        "ziplist-entry": dump(9, DATABASE, key(10, "list", string(ziplist(1, b"abc").replace(b"\3a", b"\4a")))),
        "ziplist-code": dump(9, DATABASE, key(10, "list", string(ziplist(1, 2).replace(b"\xf3", b"\xc1")))),
        "hash-odd": dump(9, DATABASE, key(13, "hash", string(ziplist(b"a")))),
        "score": dump(9, DATABASE, key(12, "scored", string(ziplist(b"a", b"b")))),
        "score-text": dump(9, DATABASE, key(3, "zset", members([string("a") + string("b")]))),
        "expiry": dump(12, DATABASE, key(23, "hash", string(listpack(b"f", b"v", b"later")))),
        "intset-width": dump(9, DATABASE, key(11, "set", string(intset(2, 1).replace(b"\2", b"\3", 1)))),
        "intset-length": dump(9, DATABASE, key(11, "set", string(intset(2, 1) + b"\0"))),
        "zipmap-value": dump(9, DATABASE, key(9, "hash", string(b"\x01\x01a\xff"))),
        "zipmap-end": dump(9, DATABASE, key(9, "hash", string(b"\x00\xff\xff"))),
        "container": dump(10, DATABASE, key(18, "list", members([length(3) + string("a")]))),
        "binary-key": dump(9, DATABASE, key(0, b"\xff\x00", b"\xc4")),
    }
    for name, data in cases.items():
        write(INVALID, name, data)


def main():
    for folder in (VALID, INVALID):
        folder.mkdir(parents=True, exist_ok=True)
    server_dumps()
    old()
    new()
    broken()


if __name__ == "__main__":
    main()
