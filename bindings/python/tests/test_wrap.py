"""The reversible notation: written with on_loss="wrap", read with unwrap=True, and nowhere else."""

from __future__ import annotations

import decimal
import struct

import pytest

import regauge

FORMATS = ["json", "yaml", "msgpack", "bson", "cbor", "marshal", "pickle"]

#: Plain data that looks like the notation, or like its escapes.
ALIKE = {
    "nan": {"$numberDouble": "NaN"},
    "bytes": {"$binary": {"base64": "AQI=", "subType": "00"}},
    "key": {"$key:1": 2, '$key:"$key:1"': 3, "a": 4},
    "other": {"$q": 1},
    "later": {"a": 1, "$literal": {"$literal": {}}},
    "literal": {"$literal": {"$literal": {"$time": "2026-11-21T12:00:00Z"}}},
    "list": [{"$ruby:object": "Foo", "value": {"$alias": 1}}, {"$": []}],
}


@pytest.mark.parametrize("name", FORMATS)
def test_plain_data_is_never_taken_for_the_notation(name):
    codec = getattr(regauge, name)
    assert codec.loads(codec.dumps(ALIKE)) == ALIKE
    written = codec.dumps(ALIKE, on_loss="wrap")
    assert codec.loads(written, unwrap=True) == ALIKE
    # Without unwrap=True, the notation is ordinary data.
    raw = codec.loads(written)
    assert raw["other"] == {"$literal": {"$q": 1}}
    assert codec.loads(codec.dumps(raw, on_loss="wrap"), unwrap=True) == raw


@pytest.mark.parametrize("there", FORMATS)
@pytest.mark.parametrize("here", FORMATS)
def test_conversions_there_and_back(here, there):
    source = getattr(regauge, here).dumps(ALIKE)
    for options, back in (({}, {}), ({"on_loss": "wrap"}, {"unwrap": True})):
        converted = regauge.convert_bytes(source, here, there, documents="keep", **options)
        again = regauge.convert_bytes(converted, there, here, documents="keep", **back)
        # repr, because key order matters. The bytes may differ: pickle has a special opcode for a
        # dict of one pair, which a converter that does not know the count cannot use.
        assert repr(getattr(regauge, here).loads(again)) == repr(ALIKE)


def test_values_come_back_as_what_they_were():
    value = {"d": decimal.Decimal("1.5"), "e": decimal.Decimal("1.10"), "f": 1.5, 1: b"x"}
    found = regauge.json.loads(regauge.json.dumps(value, on_loss="wrap"), unwrap=True)
    assert found == value and isinstance(found["d"], decimal.Decimal) and isinstance(found["f"], float)
    odd = struct.unpack(">d", bytes.fromhex("7ff8000000000001"))[0]
    found = regauge.json.loads(regauge.json.dumps([odd], on_loss="wrap"), unwrap=True)
    assert struct.pack(">d", found[0]) == struct.pack(">d", odd)
    with pytest.raises(regauge.EncodeError, match="payload 8000000000001"):
        regauge.yaml.dumps(odd)


def test_loads_says_what_it_takes():
    with pytest.raises(TypeError, match="on_loss, which JSON does not take here.*unwrap"):
        regauge.json.loads(b"{}", on_loss="wrap")
    with pytest.raises(regauge.DecodeError, match=r"begins with `\$q`.*unwrap"):
        regauge.json.loads(b'[{"$q": 1}]', unwrap=True)
    with pytest.raises(regauge.DecodeError, match="begins with `\\$time`") as caught:
        regauge.json.loads(b'{"a": {"$time": "yesterday"}}', unwrap=True)
    assert caught.value.path == "$.a"


def test_a_store_reads_what_it_wrote(tmp_path):
    url = f"sqlite:{tmp_path / 'wrap.db'}"
    value = ALIKE | {"raw": b"\xff", 5: 1}
    store = regauge.Store(url, "wrapped", "json", on_loss="wrap")
    store["a"] = value
    assert store["a"] == value
    plain = regauge.Store(url, "wrapped")
    assert plain["a"]["other"] == {"$literal": {"$q": 1}}
    plain["b"] = ALIKE
    assert plain["b"] == ALIKE
    with pytest.raises(regauge.DecodeError, match="unwrap"):
        store["b"]
    assert regauge.Store(url, "wrapped", on_loss="wrap", unwrap=False)["b"] == ALIKE


def test_references_of_marc_8():
    text = "\u4e2d &#x4E2D; \U0001f600"
    record = {"leader": "00071nam  2200037 a 4500", "fields": [{"245": {"ind1": " ", "ind2": " ", "subfields": [{"a": text}]}}]}
    xml = regauge.convert_bytes(regauge.json.dumps(record), "marc-json", "marcxml")
    written = regauge.convert_bytes(xml, "marcxml", "marc", on_loss="wrap")
    assert b"&#x1F600;" in written
    assert regauge.convert_bytes(written, "marc", "marcxml", unwrap=True) == xml
    assert regauge.convert_bytes(written, "marc", "marcxml") != xml


@pytest.mark.parametrize("name", [*FORMATS, "toml"])
@pytest.mark.parametrize("text", ["\ud83d\ude00", "a\ud83d\ude00\ude00é", "\ude00\ud83d"])
def test_text_with_a_pair_of_surrogates(name, text):
    """Two code points that UTF-16 takes for one character."""
    codec = getattr(regauge, name)
    for value in ({"v": text}, {text: 1}, {"v": [{"a": text}, "😀"]}):
        assert codec.loads(codec.dumps(value, on_loss="wrap"), unwrap=True) == value
    if name == "json":
        assert codec.dumps("\ud83d\ude00", on_loss="wrap") == b'{"$surrogates":{"base64":"7aC97biA"}}'
