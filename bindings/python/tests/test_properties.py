"""Properties: any value round-trips, and the peers agree."""

from __future__ import annotations

import json
import math
import pickle

import pytest

import regauge

hypothesis = pytest.importorskip("hypothesis")
from hypothesis import given, settings, strategies as st  # noqa: E402

settings.register_profile("regauge", max_examples=150, deadline=None)
settings.load_profile("regauge")

text = st.text(max_size=20)
leaves = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | text
finite = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | text


def trees(leaves, keys=text):
    """Values in lists and dicts."""
    return st.recursive(
        leaves, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(keys, inner, max_size=5),
        max_leaves=30,
    )


def same(one, other):
    """Equal, of the same types, with NaN equal to itself and 0.0 not to -0.0."""
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return math.isnan(one) and math.isnan(other) or (
            one == other and math.copysign(1, one) == math.copysign(1, other)
        )
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    return one == other


@given(trees(finite))
def test_json(value):
    written = regauge.json.dumps(value)
    assert same(regauge.json.loads(written), value)
    assert same(json.loads(written), value)
    assert same(regauge.json.loads(json.dumps(value)), value)
    assert same(regauge.json.loads(json.dumps(value, ensure_ascii=False, indent=1)), value)


@given(trees(leaves | st.binary(max_size=20), text | st.integers(-(2**63), 2**63)))
def test_msgpack(value):
    peer = pytest.importorskip("msgpack")
    written = regauge.msgpack.dumps(value)
    assert same(regauge.msgpack.loads(written), value)
    assert same(peer.unpackb(written, strict_map_key=False), value)
    assert same(regauge.msgpack.loads(peer.packb(value)), value)
    assert written == peer.packb(value)


@given(trees(st.integers() | leaves | st.binary(max_size=20), text | st.integers()))
def test_cbor(value):
    peer = pytest.importorskip("cbor2")
    written = regauge.cbor.dumps(value)
    assert same(regauge.cbor.loads(written), value)
    assert same(peer.loads(written), value)
    assert same(regauge.cbor.loads(peer.dumps(value)), value)


bson_key = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=10)
bson_leaves = (st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats() | text
               | st.binary(max_size=20))


@given(st.dictionaries(bson_key, trees(bson_leaves, bson_key), max_size=5))
def test_bson(value):
    peer = pytest.importorskip("bson")
    written = regauge.bson.dumps(value)
    assert same(regauge.bson.loads(written), value)
    # It has a separate class for 64-bit integers.
    assert peer.decode(written) == value or "nan" in repr(value)
    assert same(regauge.bson.loads(peer.encode(value)), value)


@given(trees(st.integers() | leaves | st.binary(max_size=20), text | st.integers() | st.none()))
def test_yaml(value):
    # YAML cannot hold a NaN's payload; `same` treats all NaNs as equal.
    written = regauge.yaml.dumps(value, on_loss="approximate" if "nan" in repr(value) else "refuse")
    assert same(regauge.yaml.loads(written), value)


@given(trees(finite))
def test_yaml_as_pyyaml_reads_it(value):
    peer = pytest.importorskip("yaml")
    try:
        read = peer.safe_load(regauge.yaml.dumps(value).decode())
    except peer.reader.ReaderError:
        return  # characters beyond the BMP in some builds, which YAML allows
    assert same(read, value)


# U+0085, U+2028 and U+2029 break lines in YAML 1.1; tools/yaml_11_check.py compares those.
unbroken = st.text(st.characters(exclude_characters="\x85\u2028\u2029", exclude_categories=["Cs"]),
                   max_size=20)
flat = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | unbroken


@given(trees(flat, unbroken))
def test_yaml_11_as_pyyaml_writes_it(value):
    peer = pytest.importorskip("yaml")
    dumped = peer.safe_dump(value, allow_unicode=True)
    assert same(regauge.yaml.loads(dumped, schema="1.1"), peer.safe_load(dumped))


anything = (st.integers() | leaves | st.binary(max_size=20) | st.dates() | st.datetimes()
            | st.timedeltas() | st.times() | st.uuids() | st.decimals(allow_nan=False)
            | st.complex_numbers(allow_nan=False) | st.sets(st.integers()) | st.frozensets(text))
hashable = st.tuples(st.integers(), text) | st.integers() | text | st.none() | st.binary(max_size=5)


@given(trees(anything, hashable) | st.tuples(anything, anything), st.integers(0, 5))
def test_pickle(value, protocol):
    written = regauge.pickle.dumps(value, protocol=protocol)
    for back in (regauge.pickle.loads(written), pickle.loads(written),
                 regauge.pickle.loads(pickle.dumps(value, protocol))):
        assert same(back, value)


# Marshal writes numbers as text: the payload of a NaN is refused.
plain_nan = leaves.map(lambda value: math.nan if value != value else value)


@given(trees(st.integers() | plain_nan | st.binary(max_size=20) | st.decimals(allow_nan=False),
             text | st.integers()))
def test_marshal(value):
    written = regauge.marshal.dumps(value)
    assert same(regauge.marshal.loads(written), value)


@given(st.binary(max_size=60))
def test_no_bytes_do_more_than_raise(data):
    for name in ("json", "msgpack", "cbor", "bson", "yaml", "marshal", "pickle", "ndjson"):
        try:
            getattr(regauge, name).loads(data)
        except regauge.DecodeError as error:
            assert str(error)


@given(trees(leaves | st.binary(max_size=5), text | st.integers()))
def test_wrapped_json(value):
    written = regauge.json.dumps(value, on_loss="wrap")
    assert same(regauge.json.loads(written, unwrap=True), value)
