"""Data changes while it is written, through code that it runs: no freed memory is accessed."""

from __future__ import annotations

import enum
import io

import pytest

import regauge

FORMATS = [regauge.json, regauge.msgpack, regauge.cbor, regauge.bson, regauge.pickle, regauge.marshal]


class Odd:
    """An object that only `default` knows."""


def big(text: str) -> str:
    """Returns a text that nobody else references."""
    return "".join([text] * 50)


@pytest.mark.parametrize("module", FORMATS)
@pytest.mark.parametrize("kind", [dict, list])
@pytest.mark.parametrize("change", ["clear", "replace", "grow", "shrink"])
def test_default_changes_what_holds_it(module, kind, change):
    def value():
        if kind is dict:
            return {"a": big("1"), "b": Odd(), "c": big("2"), "d": [big("3")], "e": Odd(), "f": big("4")}
        return [big("1"), Odd(), big("2"), [big("3")], Odd(), big("4")]

    document = {"all": value(), "last": [1]}
    held = document["all"]

    def default(_):
        if change == "clear":
            held.clear()
        elif change == "replace":
            other = value()
            held.clear()
            held.update(other) if kind is dict else held.extend(other)
        elif change == "grow":
            for index in range(100):
                held.update({f"{index}": index}) if kind is dict else held.append(index)
        else:
            held.pop("f", None) if kind is dict else held.pop()
        return "x"

    try:
        back = module.loads(module.dumps(document, default=default))
    except regauge.EncodeError as error:
        assert change != "replace"
        assert "changed its size while it was written" in str(error)
    else:
        assert change == "replace"
        expected = value()
        if kind is dict:
            expected.update(b="x", e="x")
        else:
            expected[1] = expected[4] = "x"
        assert back == {"all": expected, "last": [1]}


def test_values_that_stay_are_written():
    seen = []

    def default(_):
        seen.append(big("x"))
        return len(seen)

    document = {f"k{index}": Odd() if index % 3 == 0 else [index, big("y")] for index in range(300)}
    back = regauge.json.loads(regauge.json.dumps(document, default=default))
    assert list(back) == list(document)
    assert [back[f"k{index}"] for index in range(0, 300, 3)] == list(range(1, 101))
    listed = regauge.json.loads(regauge.json.dumps(list(document.values()), default=default))
    assert listed[1] == [1, big("y")] and listed[3] == 102


class Key(enum.Enum):
    """A key whose repr runs code."""

    ONE = 1

    @property
    def value(self):
        Key.held.clear()
        return "one"


def test_a_key_frees_its_value():
    Key.held = {Key.ONE: big("v"), "b": 1}
    with pytest.raises(regauge.EncodeError, match="changed its size"):
        regauge.msgpack.dumps([Key.held])


@pytest.mark.parametrize("key", ["\ud800", "é" * 20, "a" * 40])
@pytest.mark.parametrize("value", ["\ud800x", 1 << 62, 1 << 64, -1 << 90, (1, "x"), b"x", 1.5, None])
def test_rare_keys_and_values_among_others(key, value):
    document = {"a": [value, "b", value], key: value, "c": {"d": value}, "e": "f", "g": [], "h": {}}
    back = regauge.json.loads(regauge.json.dumps(document, on_loss="wrap"), unwrap=True)
    if value == (1, "x"):
        value = [1, "x"]
    assert back == {"a": [value, "b", value], key: value, "c": {"d": value}, "e": "f", "g": [], "h": {}}


@pytest.mark.parametrize("n", [0, 1, 9, 10, 99, 100, 9999, 10**6 - 1, 10**6, 10**8 - 1, 10**8, (1 << 30) - 1, 1 << 30,
                               (1 << 32) - 1, 1 << 32, (1 << 60) - 1, 1 << 60, (1 << 63) - 1, 1 << 63,
                               (1 << 64) - 1, 1 << 64, 1 << 90])
def test_integers_of_every_size(n):
    for value in (n, -n):
        assert regauge.json.dumps({"n": value, "l": [value]}) == b'{"n":%d,"l":[%d]}' % (value, value)
        assert regauge.cbor.loads(regauge.cbor.dumps([value])) == [value]


def test_dicts_of_any_make():
    class Plain:
        def __init__(self):
            self.a, self.b = big("1"), [1, 2]

    mixed = {1: "x", "a": [2], None: {"b": 3}}
    assert regauge.msgpack.loads(regauge.msgpack.dumps(mixed)) == mixed
    instance = Plain()
    assert regauge.json.loads(regauge.json.dumps(vars(instance))) == vars(instance)
    full = {str(index): index for index in range(100)}
    for index in range(0, 100, 2):
        del full[str(index)]
    assert regauge.json.loads(regauge.json.dumps(full)) == full


@pytest.mark.parametrize("kind", [dict, list])
def test_the_file_changes_what_is_written(kind):
    """The file's `write` is called in the middle of a document, for the part before it."""
    held = {}

    class File(io.BytesIO):
        def write(self, data):
            held["rows"].clear()
            return super().write(data)

    file = File()
    writer = regauge.ndjson.Writer(file)
    held["rows"] = {} if kind is dict else []
    writer.write([big("before")] * 4000)
    rows = [big(f"{index} ") for index in range(4000)]
    held["rows"] = dict(zip(map(str, rows), rows)) if kind is dict else rows
    with pytest.raises(regauge.EncodeError, match="changed its size"):
        writer.write(held["rows"])
    held["rows"] = []
    writer.write({"after": 1})
    writer.close()
    assert regauge.ndjson.loads(file.getvalue()) == [[big("before")] * 4000, {"after": 1}]
