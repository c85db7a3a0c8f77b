#!/usr/bin/env python3
"""Checks with a real Python that pickles mean what regauge says they do.

Random values pass through the command `regauge convert` as streams of pickles: every protocol in,
every protocol out, and from JSON. The output must load as an equal value, including types. Only
values of the standard library are created here, so loading runs nothing else.
"""

import argparse
import collections
import datetime
import decimal
import fractions
import io
import itertools
import json
import math
import pathlib
import pickle
import random
import subprocess
import sys
import uuid

TEXTS = ["", "a", "é", "€uro", "😀", "line\nbreak", "back\\slash", "\\u0041", "\x00\x1a\r",
         "\ud800", "\udfff\ud800", "x" * 255, "x" * 256, "ü" * 300, "'\"", "key", "name"]


def scalar(rng):
    """Returns a value without content values."""
    kind = rng.randrange(22)
    if kind == 0:
        return None
    if kind == 1:
        return rng.random() < 0.5
    if kind == 2:
        return rng.randrange(-300, 70000)
    if kind == 3:
        return rng.choice([1, -1]) * (2 ** rng.choice([7, 8, 15, 16, 31, 32, 63, 64, 65, 200, 2100])
                                      + rng.randrange(-2, 3))
    if kind == 4:
        return rng.choice([0.0, -0.0, 1.5, 1e300, 5e-324, math.inf, -math.inf, 1 / 3, 1e16, 123456789.125])
    if kind in (5, 6, 7):
        return rng.choice(TEXTS)
    if kind == 8:
        return "".join(chr(rng.choice([rng.randrange(0x20, 0x7F), rng.randrange(0, 0xD800),
                                       rng.randrange(0xE000, 0x110000)])) for _ in range(rng.randrange(40)))
    if kind == 9:
        return rng.randbytes(rng.choice([0, 1, 5, 255, 256, 300]))
    if kind == 10:
        return bytearray(rng.randbytes(rng.randrange(9)))
    if kind == 11:
        return datetime.date(rng.randrange(1, 10000), rng.randrange(1, 13), rng.randrange(1, 29))
    moment = datetime.datetime(rng.randrange(1, 10000), rng.randrange(1, 13), rng.randrange(1, 29),
                               rng.randrange(24), rng.randrange(60), rng.randrange(60),
                               rng.choice([0, 500000, 1, 999999]), fold=rng.randrange(2))
    if kind == 12:
        return rng.choice([moment, moment.time()])
    if kind == 13:
        zone = datetime.timezone(datetime.timedelta(seconds=rng.choice([0, 3600, -5400, 86399, -1, 90])))
        return moment.replace(tzinfo=rng.choice([datetime.timezone.utc, zone]))
    if kind == 14:
        return datetime.timedelta(rng.randrange(-1000, 1000), rng.randrange(86400), rng.randrange(10**6))
    if kind == 15:
        return decimal.Decimal(rng.choice(["0", "1.10", "-1E+5", "1E-10", "NaN", "sNaN", "-Infinity", "12345678901234567890.5"]))
    if kind == 16:
        return fractions.Fraction(rng.randrange(-100, 100), rng.randrange(1, 100))
    if kind == 17:
        return uuid.UUID(int=rng.getrandbits(128) >> rng.choice([0, 1, 64, 65, 120]))
    if kind == 18:
        return complex(rng.choice([0.0, -0.0, 1.5]), rng.choice([1.0, -2.5]))
    if kind == 19:
        return range(rng.randrange(5), rng.randrange(9), rng.choice([1, -1, 3]))
    if kind == 20:
        return rng.choice([slice(1, None, 2), slice(None), datetime.timezone.utc, list, datetime.datetime,
                           datetime.timezone(datetime.timedelta(hours=1), "CET")])
    return rng.choice([pathlib.PurePosixPath("/usr/lib"), pathlib.PurePosixPath("a/b"),
                       pathlib.PurePosixPath("."), pathlib.PurePosixPath("/"),
                       pathlib.PureWindowsPath("C:\\a\\b"), pathlib.PureWindowsPath("a\\b")])


class Point:
    """An object with fields."""

    def __init__(self, x):
        self.x = x

    def __eq__(self, other):
        return type(other) is Point and same(self.__dict__, other.__dict__)

    def __repr__(self):
        return f"Point({self.__dict__!r})"


class Slots:
    """An object whose state is a tuple."""

    __slots__ = ("x", "y")

    def __repr__(self):
        return f"Slots({getattr(self, 'x', '-')!r}, {getattr(self, 'y', '-')!r})"


class Items(list):
    """A list subclass with fields."""


class Pairs(dict):
    """A dict subclass."""


Named = collections.namedtuple("Named", "a b")


class Keywords:
    """An object that is created with keyword arguments."""

    def __new__(cls, *, a):
        new = super().__new__(cls)
        new.a = a
        return new

    def __getnewargs_ex__(self):
        return (), {"a": self.a}

    def __repr__(self):
        return f"Keywords({self.a!r})"


def hashable(rng, depth):
    """Returns a value that can be a key, and differs from `True` and `1.0`."""
    while True:
        value = scalar(rng)
        if isinstance(value, (bytearray, slice)) or str(value) in ("NaN", "sNaN"):
            continue
        if depth > 0 and rng.random() < 0.2:
            members = [hashable(rng, depth - 1) for _ in range(rng.randrange(4))]
            value = rng.choice([tuple(members), frozenset(members)])
        return value


def value(rng, depth, shared, kinds):
    """Returns a random value, some parts of which occur several times."""
    if depth == 0 or rng.random() < 0.3:
        return scalar(rng)
    if shared and rng.random() < 0.1:
        return rng.choice(shared)
    size = rng.choice([0, 1, 2, 3, 5])
    inner = lambda: value(rng, depth - 1, shared, kinds)
    key = lambda: hashable(rng, 1)
    kind = rng.choice(kinds)
    if kind < 3:
        made = [inner() for _ in range(size)]
    elif kind < 6:
        made = {rng.choice([rng.choice(TEXTS), key()]): inner() for _ in range(size)}
    elif kind == 6:
        made = tuple(inner() for _ in range(size))
    elif kind == 7:
        made = {key() for _ in range(size)}
    elif kind == 8:
        made = frozenset(key() for _ in range(size))
    elif kind == 9:
        made = collections.OrderedDict((key(), inner()) for _ in range(size))
    elif kind == 10:
        made = collections.defaultdict(rng.choice([None, list, int]), [(key(), inner()) for _ in range(size)])
    elif kind == 11:
        made = rng.choice([collections.deque([inner() for _ in range(size)], rng.choice([None, 7])),
                           collections.Counter(rng.choice(["", "abca"]))])
    elif kind == 12:
        made = Point(inner())
    elif kind == 13:
        made = Slots()
        made.x = inner()
    elif kind == 14:
        made = Items([inner() for _ in range(size)])
        made.extra = inner()
    elif kind == 15:
        made = rng.choice([Pairs({"a": inner()}), Named(inner(), inner())])
    else:
        made = Keywords(a=inner())
    if not isinstance(made, (tuple, frozenset)):
        shared.append(made)
    return made


def same(a, b):
    """Returns whether two acyclic values are equal, including types, signs of zero and NaN."""
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return repr(a) == repr(b)
    if isinstance(a, complex):
        return repr(a) == repr(b)
    if isinstance(a, decimal.Decimal):
        return str(a) == str(b)
    if isinstance(a, (datetime.datetime, datetime.time)):
        return repr(a) == repr(b)
    if isinstance(a, (list, tuple, collections.deque)):
        if getattr(a, "maxlen", None) != getattr(b, "maxlen", None):
            return False
        if getattr(a, "__dict__", None) is not None and not same(vars(a), vars(b)):
            return False
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        if getattr(a, "default_factory", None) != getattr(b, "default_factory", None):
            return False
        return len(a) == len(b) and all(
            same(x, y) and same(a[x], b[y]) for x, y in zip(a.keys(), b.keys()))
    if isinstance(a, (set, frozenset)):
        return a == b and sorted(map(repr, a)) == sorted(map(repr, b))
    if isinstance(a, Point):
        return same(vars(a), vars(b))
    if isinstance(a, Keywords):
        return same(a.a, b.a)
    if isinstance(a, Slots):
        return same(a.x, b.x)
    return a == b


def identities(value, seen=None, order=None):
    """Returns which lists, dicts and objects are shared: the index of each one's first place."""
    seen = {} if seen is None else seen
    order = [] if order is None else order
    if isinstance(value, (list, dict, set, collections.deque, Point, Slots)):
        order.append(seen.setdefault(id(value), len(seen)))
        if order[-1] < len(seen) - 1 and order.count(order[-1]) > 1:
            return order
    if isinstance(value, (list, tuple, collections.deque)):
        for inner in value:
            identities(inner, seen, order)
    elif isinstance(value, dict):
        for inner in value.values():
            identities(inner, seen, order)
    elif isinstance(value, Point):
        identities(value.x, seen, order)
    elif isinstance(value, Slots):
        identities(value.x, seen, order)
    return order


def plain(rng, depth):
    """Returns a JSON value."""
    kind = rng.randrange(8 if depth else 5)
    if kind == 0:
        return rng.choice([None, True, False])
    if kind == 1:
        return rng.choice([rng.randrange(-10**6, 10**6), 2**63, -2**63, 2**64, 10**30, -10**30])
    if kind == 2:
        return rng.choice([0.1, -0.0, 1e300, 1.5])
    if kind < 5:
        return rng.choice([text for text in TEXTS if not any("\ud800" <= c <= "\udfff" for c in text)])
    size = rng.choice([0, 1, 3, 8])
    if kind < 7:
        return [plain(rng, depth - 1) for _ in range(size)]
    return {rng.choice(TEXTS[:9]) + str(n): plain(rng, depth - 1) for n in range(size)}


def convert(regauge, data, *arguments):
    """Returns the command's output for these bytes."""
    ran = subprocess.run([regauge, "convert", "-", "-", *arguments], input=data, capture_output=True)
    if ran.returncode != 0:
        sys.exit(f"regauge failed: {' '.join(arguments)}\n{ran.stderr.decode(errors='replace')}")
    return ran.stdout


def load_all(data):
    """Returns the values of concatenated pickles."""
    stream, values = io.BytesIO(data), []
    while stream.tell() < len(data):
        values.append(pickle.load(stream))
    return values


def check(values, data, what):
    """Returns whether the pickles hold these values, and share what these share."""
    loaded = load_all(data)
    if len(loaded) != len(values):
        sys.exit(f"{what}: {len(loaded)} values, expected {len(values)}")
    for one, other in zip(values, loaded):
        if not same(one, other):
            sys.exit(f"{what}: {one!r}\n  came back as {other!r}")
        if identities(one) != identities(other):
            sys.exit(f"{what}: {one!r}\n  came back with other references")


def cycles():
    """Returns values that contain themselves."""
    array, table, point = [], {}, Point(None)
    array.append(array)
    table["me"] = table
    point.x = [point]
    return [array, table, point]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--regauge", required=True, help="the command")
    parser.add_argument("--values", type=int, default=200, help="values for each pair of protocols")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    count = 0
    for read, write in itertools.product(range(6), range(6)):
        # Slots are pickled in protocol 2 and up, keyword arguments have an opcode in protocol 4 and
        # up.
        kinds = [kind for kind in range(17) if (kind != 13 or read > 1) and (kind != 16 or read < 2 or write > 3)]
        values = [value(rng, 4, [], kinds) for _ in range(options.values)]
        data = b"".join(pickle.dumps(one, read) for one in values)
        # Loaded once, because a value that was never pickled shares more than its pickle.
        values = load_all(data)
        written = convert(options.regauge, data, "--from", "pickle", "--to", "pickle",
                          "--pickle-protocol", str(write))
        check(values, written, f"protocol {read} to {write}")
        count += len(values)
        for cycle in cycles():
            written = convert(options.regauge, pickle.dumps(cycle, read), "--from", "pickle", "--to",
                              "pickle", "--pickle-protocol", str(write))
            again = pickle.loads(written)
            inner = again[0] if isinstance(again, list) else again.x[0] if isinstance(again, Point) else again["me"]
            if inner is not again:
                sys.exit(f"a cycle came back as {again!r}")
    for write in range(6):
        values = [plain(rng, 4) for _ in range(options.values)]
        values.append(list(range(5000)))
        values.append({str(n): "x" * n for n in range(1500)})
        values.append(["y" * 100_000, "z"])
        data = "\n".join(json.dumps(one) for one in values).encode()
        written = convert(options.regauge, data, "--from", "ndjson", "--to", "pickle",
                          "--pickle-protocol", str(write))
        check(values, written, f"JSON to protocol {write}")
        lines = convert(options.regauge, written, "--from", "pickle", "--to", "ndjson")
        again = [json.loads(line) for line in lines.splitlines()]
        if not all(map(same, values, again)):
            sys.exit(f"JSON to protocol {write} and back: not the same")
        count += len(values)
    print(f"{count} values are what Python {sys.version.split()[0]} says they are")


if __name__ == "__main__":
    main()
