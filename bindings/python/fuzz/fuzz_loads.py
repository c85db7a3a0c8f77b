#!/usr/bin/env python3
"""Fuzzes loads and dumps of every format with atheris.

    pip install atheris
    python3 bindings/python/fuzz/fuzz_loads.py -max_total_time=300

The extension is built without coverage, which therefore cannot guide the inputs: each is derived
from a file of the repository's corpus, or from the previous input.

It asserts what the core's fuzz targets do not: no input makes the builder or the walker raise
anything but a regauge exception, crash the interpreter, or leave the collector off; dumps writes
what loads returns, and reading it back gives the same; references are neither lost nor leaked.
"""

import gc
import pathlib
import random
import sys

import atheris

import regauge

FORMATS = ["json", "ndjson", "yaml", "msgpack", "bson", "cbor", "marshal", "pickle", "marc", "marcxml",
           "marc-json"]
# Conversion between formats is tested elsewhere: here a value stays in its format.
OPTIONS = [
    {}, {"unwrap": True}, {"duplicate_keys": "refuse"}, {"object_hook": lambda map: map},
    {"limits": {"depth": 20, "nodes": 1000}},
]


def same(one, other):
    """Returns whether two values are equal, NaN included; shared values are compared once."""
    seen, left = set(), [(one, other)]
    while left:
        one, other = left.pop()
        if (id(one), id(other)) in seen:
            continue
        # A dict subclass is written as a dict.
        if type(one) is not type(other) and not (isinstance(one, dict) and isinstance(other, dict)):
            return False
        if isinstance(one, (list, tuple, dict)):
            seen.add((id(one), id(other)))
            if len(one) != len(other):
                return False
            pairs = (one.values(), other.values()) if isinstance(one, dict) else (one, other)
            left.extend(zip(*pairs))
        elif isinstance(one, regauge.Object):
            seen.add((id(one), id(other)))
            if (one.kind, one.name) != (other.kind, other.name):
                return False
            left.append((one.value, other.value))
        elif one != other and one == one:
            return False
    return True


def test(data):
    if len(data) < 2:
        return
    format, options = FORMATS[data[0] % len(FORMATS)], OPTIONS[data[1] % len(OPTIONS)]
    data = bytes(data[2:])
    try:
        value = regauge.loads(data, format, **options)
    except regauge.Error as error:
        assert error.kind and str(error)
        return
    except TypeError as error:
        # NDJSON and MARC take fewer options.
        assert "keyword argument" in str(error), error
        return
    finally:
        assert gc.isenabled()
    writes = {"on_loss": "wrap"} if options.get("unwrap") and not format.startswith("marc") else {}
    try:
        written = regauge.dumps(value, format, **writes)
    except regauge.Error as error:
        assert str(error)
        return
    again = regauge.loads(written, format, **writes)
    # Dates and decimals become text if the format has no type for them (docs/python.md), and sets
    # are unordered: so either the value is the same, or its encoding is.
    try:
        assert same(value, again) or regauge.dumps(again, format, **writes) == written, (format, value, again)
    except regauge.Error as error:
        assert str(error)
    assert gc.isenabled()


def seeds():
    """Yields the small files of the corpus, each after the two bytes that select how it is read."""
    root = pathlib.Path(__file__).resolve().parents[3] / "corpus"
    found = []
    for path in sorted(root.glob("*/**/*")):
        name = path.relative_to(root).parts[0]
        if path.is_file() and name in FORMATS and path.stat().st_size < 4096:
            found.append(bytes([FORMATS.index(name)]) + b"\0" + path.read_bytes())
    return found


def mutate(data, max_size, seed):
    """Derives a new input from a seed, or from the previous input."""
    choice = random.Random(seed)
    base = data if choice.random() < 0.3 else choice.choice(SEEDS)
    if len(base) > 1 and choice.random() < 0.5:
        base = base[:1] + bytes([choice.randrange(len(OPTIONS))]) + base[2:]
    return atheris.Mutate(base, max_size)


if __name__ == "__main__":
    SEEDS = seeds()
    print(f"{len(SEEDS)} seeds")
    atheris.Setup(sys.argv, test, custom_mutator=mutate)
    atheris.Fuzz()
