#!/usr/bin/env python3
"""Fuzzes loads and dumps of every format with atheris.

    pip install atheris
    python3 bindings/python/fuzz/fuzz_loads.py -max_total_time=300 [corpus folder]

What it asserts that the fuzz targets of the core do not: no input makes the builder or the walker raise
anything but an exception of regauge's, crash the interpreter, or leave the collector off; what loads
gives, dumps writes, and that reads back as the same; references are neither lost nor kept.
"""

import gc
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


def same(one, other):
    """Whether two values are equal: NaN is what it is, and what stands twice is compared once."""
    seen, left = set(), [(one, other)]
    while left:
        one, other = left.pop()
        if (id(one), id(other)) in seen:
            continue
        # A subclass of dict is written as a dict.
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
    writes = {"on_loss": "wrap"} if options.get("on_loss") and not format.startswith("marc") else {}
    try:
        written = regauge.dumps(value, format, **writes)
    except regauge.Error as error:
        assert str(error)
        return
    again = regauge.loads(written, format, **writes)
    if format.startswith("marc"):
        # A leader tells lengths, which are those of what was written.
        value, again = ([record["fields"] for record in records] for records in (value, again))
    assert same(value, again), (format, value, again)
    assert gc.isenabled()


if __name__ == "__main__":
    atheris.Setup(sys.argv, test)
    atheris.Fuzz()
