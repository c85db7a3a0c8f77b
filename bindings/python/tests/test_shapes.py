"""Maps of alternating shapes: `loads` copies a dict that it keeps for the keys."""

from __future__ import annotations

import gc
import json
import random
import sys

import pytest

import regauge

FORMATS = ["json", "yaml", "msgpack", "cbor", "bson", "marshal", "pickle"]


def _maps(count: int) -> list[dict[str, object]]:
    """Maps of a few hundred shapes, some larger than the largest that is kept, in random order."""
    rng = random.Random(count)
    shapes = [[f"key {index}" for index in range(start, start + size)]
              for start in range(0, 60, 3) for size in (0, 1, 2, 3, 5, 6, 11, 40, 63, 64, 65, 90)]
    values = [None, True, 1, 2**40, 1.5, "text", [], [1], {"a": 1, "b": None}]
    return [{key: rng.choice(values) for key in rng.choice(shapes)} for _ in range(count)]


@pytest.mark.parametrize("name", FORMATS)
def test_every_map_has_its_own_keys_and_values_in_order(name: str) -> None:
    module = getattr(regauge, name)
    maps = _maps(2_000)
    loaded = module.loads(module.dumps({"maps": maps}))["maps"]
    assert loaded == maps
    assert [list(found) for found in loaded] == [list(wanted) for wanted in maps]


def test_a_map_that_changes_changes_no_other() -> None:
    data = b'[{"a": 1, "b": [2]}, {"a": 1, "b": [2]}, {"a": 1, "b": [2]}, {"a": 1, "b": [2]}]'
    for _ in range(3):
        loaded = regauge.json.loads(data)
        assert loaded == [{"a": 1, "b": [2]}] * 4
        for found in loaded:
            found["a"] = found["b"]
            found["b"].append(found)
            found["c"] = 3
            del found["a"]
            found.clear()
            found["b"] = None


def test_dicts_are_as_those_of_pythons_own_reader() -> None:
    text = json.dumps([{"a": 1, "b": "x", "c": None}, {"a": [], "b": 1, "c": 2}, {"k": {}, "b": 1}] * 5)
    for _ in range(3):
        for found, wanted in zip(regauge.json.loads(text), json.loads(text), strict=True):
            assert found == wanted
            assert sys.getsizeof(found) == sys.getsizeof(wanted)
            assert gc.is_tracked(found) == gc.is_tracked(wanted)
            # Lookups by equal text in another object, and by missing keys.
            assert found.get("".join(["", "b"])) == wanted["b"]
            assert "d" not in found


def test_references_are_counted() -> None:
    text = json.dumps([{"first key": 1.5, "second key": [1.5], "third key": None}] * 100)
    regauge.json.loads(text)
    keys = [key for key in regauge.json.loads(text)[0]]
    before = [sys.getrefcount(one) for one in [None, *keys]]
    for _ in range(1_000):
        regauge.json.loads(text)
    after = [sys.getrefcount(one) for one in [None, *keys]]
    assert all(abs(now - then) < 100 for now, then in zip(after, before, strict=True))
    value = regauge.json.loads(text)
    assert sys.getrefcount(value[50]["second key"]) == sys.getrefcount([1.5]) + 1


def test_a_key_that_stands_twice() -> None:
    for _ in range(4):
        assert regauge.json.loads('{"a": 1, "b": 2, "a": 3}') == {"a": 3, "b": 2}
        assert list(regauge.json.loads('{"b": 1, "a": 2, "b": [3]}').items()) == [("b", [3]), ("a", 2)]
        with pytest.raises(regauge.DecodeError):
            regauge.json.loads('{"a": 1, "b": 2, "a": 3}', duplicate_keys="refuse")


def test_keys_that_are_no_text() -> None:
    data = regauge.msgpack.dumps([{1: "a", None: "b", 2.5: "c"}, {b"x": 1, "x": 2}] * 5)
    for _ in range(4):
        assert regauge.msgpack.loads(data) == [{1: "a", None: "b", 2.5: "c"}, {b"x": 1, "x": 2}] * 5


def test_a_map_that_ends_early_leaves_nothing() -> None:
    good = b'[{"one": 1, "two": [2]}, {"one": 1, "two": [2]}]'
    for cut in range(1, len(good)):
        with pytest.raises(regauge.DecodeError):
            regauge.json.loads(good[:cut])
        assert regauge.json.loads(good) == [{"one": 1, "two": [2]}] * 2
