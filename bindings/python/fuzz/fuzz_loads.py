#!/usr/bin/env python3
"""Fuzzes loads and dumps of every format with atheris.

    pip install atheris
    python3 bindings/python/fuzz/fuzz_loads.py -max_total_time=300 [corpus folder]

What it asserts that the fuzz targets of the core do not: no input makes the builder or the walker raise
anything but an exception of regauge's, crash the interpreter, or leave the collector off; what loads
gives, dumps writes, and that reads back as the same; references are neither lost nor kept.
"""

import gc
import math
import sys

import atheris

import regauge

FORMATS = ["json", "ndjson", "yaml", "msgpack", "bson", "cbor", "marshal", "pickle", "marc", "marcxml",
           "marc-json"]
# What a value of one format may become in another is a matter of other tests: here it stays.
OPTIONS = [
    {}, {"on_loss": "wrap"}, {"duplicate_keys": "refuse"}, {"object_hook": lambda map: map},
    {"limits": {"depth": 20, "nodes": 1000}},
]


def same(one, other, depth=0):
    """Whether two values are equal; NaN is what it is, and what holds itself is not looked into."""
    if depth > 50:
        return True
    if isinstance(one, float) and isinstance(other, float):
        return one == other or (math.isnan(one) and math.isnan(other))
    if isinstance(one, (list, tuple)) and type(one) is type(other) and len(one) == len(other):
        return all(same(left, right, depth + 1) for left, right in zip(one, other))
    if isinstance(one, dict) and isinstance(other, dict) and len(one) == len(other):
        return all(same(left, right, depth + 1) for left, right in zip(one.values(), other.values()))
    if isinstance(one, regauge.Object) and isinstance(other, regauge.Object):
        return (one.kind, one.name) == (other.kind, other.name) and same(one.value, other.value, depth + 1)
    return type(one) is type(other) and (one == other or one != one)


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
    writes = {"on_loss": "wrap"} if options.get("on_loss") and not format.startswith("marc") else {}
    try:
        written = regauge.dumps(value, format, **writes)
    except regauge.Error as error:
        assert str(error)
        return
    again = regauge.loads(written, format, **writes)
    assert same(value, again), (format, value, again)
    assert gc.isenabled()


if __name__ == "__main__":
    atheris.Setup(sys.argv, test)
    atheris.Fuzz()
