"""Cached keys are found again, whatever came in between."""

from __future__ import annotations

import collections
import datetime
import decimal
import enum
import json
import random
import sys
import uuid

import pytest

import regauge

FORMATS = [regauge.json, regauge.msgpack, regauge.cbor, regauge.bson, regauge.pickle, regauge.marshal]


def there_and_back(module, value):
    value = {"all": value} if module is regauge.bson else value
    assert module.loads(module.dumps(value)) == value


def test_two_keys_that_are_written_as_one_text_are_refused():
    day, identifier = datetime.date(2020, 1, 2), uuid.UUID(int=7)
    for module, key, text in [(regauge.json, day, "2020-01-02"), (regauge.msgpack, identifier, str(identifier)),
                              (regauge.msgpack, decimal.Decimal("1.5"), "1.5")]:
        for sort_keys in (False, True):
            for value in ({key: 1, text: 2}, {text: 2, key: 1}):
                with pytest.raises(regauge.EncodeError, match=f'the text "{text}", which is a key of the same.*; rename one'):
                    module.dumps(value, sort_keys=sort_keys)
            assert module.loads(module.dumps({key: 1, "b": 2}, sort_keys=sort_keys)) == {text: 1, "b": 2}
    there_and_back(regauge.pickle, {day: 1, "2020-01-02": 2})


@pytest.mark.parametrize("module", FORMATS)
def test_keys_of_every_length(module):
    # For each length, three that differ in the first, a middle and the last character.
    keys = {""}
    for length in range(1, 70):
        plain = "k" * length
        for at in (0, length // 2, length - 1):
            keys |= {plain, plain[:at] + "x" + plain[at + 1:], plain[:at] + "é" + plain[at + 1:]}
    ordered = sorted(keys)
    for _ in range(3):
        there_and_back(module, [{key: index} for index, key in enumerate(ordered)])
        there_and_back(module, dict.fromkeys(ordered, 1))
        random.Random(5).shuffle(ordered)


@pytest.mark.parametrize("module", [regauge.json, regauge.msgpack, regauge.marshal])
def test_more_keys_than_are_remembered(module):
    rows = [{f"key {index}": index, "id": index, f"{index}": [{"id": 1}]} for index in range(9000)]
    for _ in range(2):
        there_and_back(module, rows)


def test_keys_in_an_order_that_nobody_foresees():
    chance = random.Random(7)
    names = [f"name{'_' * chance.randrange(30)}{index}" for index in range(60)]
    rows = [{name: 1 for name in chance.sample(names, chance.randrange(12))} for _ in range(3000)]
    for module in (regauge.json, regauge.msgpack, regauge.cbor, regauge.pickle):
        there_and_back(module, rows)
        first, second = module.loads(module.dumps(rows)), module.loads(module.dumps(rows))
        assert [list(row) for row in first] == [list(row) for row in second] == [list(row) for row in rows]


def test_a_key_is_one_object_wherever_it_stands():
    if ".abi3." in str(regauge._regauge.__file__):
        pytest.skip("the stable ABI cannot see what a text is, and keeps no keys")
    rows = regauge.json.loads(json.dumps([{"first": 1, "a second key of some length": 2}] * 20))
    assert len({id(key) for row in rows for key in row}) == 2


def test_keys_are_not_held_more_than_once_each():
    data = regauge.msgpack.dumps([{f"held {index % 7}": index} for index in range(70)])
    regauge.msgpack.loads(data)
    key = next(iter(regauge.msgpack.loads(data)[0]))
    before = sys.getrefcount(key)
    for _ in range(50):
        regauge.msgpack.loads(data)
    assert sys.getrefcount(key) == before


class Name(enum.Enum):
    ONE = 1
    TEXT = "a"
    PAIR = (1, 2)


class Again(enum.Enum):
    ONE = 1
    TEXT = "a"


class Number(enum.IntEnum):
    ONE = 1


class Own(str):
    """A text that is equal to itself only."""

    def __eq__(self, other):
        return self is other

    __hash__ = str.__hash__


@pytest.mark.parametrize("value", [
    {Name.ONE: 1, 1: 2}, {Name.ONE: 1, Again.ONE: 2}, {Name.TEXT: 1, Again.TEXT: 2}, {(Name.ONE,): 1, (1,): 2},
    {(Name.ONE,): 1, (Again.ONE,): 2}, {Name.PAIR: 1, (1, 2): 2}, {Own("a"): 1, "a": 2}, {Own("a"): 1, Own("a"): 2},
    {Name.TEXT: 1, Own("a"): 2},
])
def test_two_keys_that_are_written_alike_are_refused(value):
    for module in (regauge.msgpack, regauge.cbor, regauge.yaml, regauge.marshal, regauge.pickle):
        for sort_keys in (False, True):
            for one in (value, dict(reversed(value.items())), collections.OrderedDict(value)):
                with pytest.raises(regauge.EncodeError, match="which is a key of the same dict too; rename one"):
                    module.dumps(one, sort_keys=sort_keys)


def test_keys_that_only_look_alike():
    value = {Name.ONE: 1, Name.TEXT: 2, Name.PAIR: 3, Number.ONE + 1: 4, "1": 5, 3: [{Name.ONE: 1}, {1: 1}]}
    expected = {1: 1, "a": 2, (1, 2): 3, 2: 4, "1": 5, 3: [{1: 1}, {1: 1}]}
    for module in (regauge.msgpack, regauge.cbor, regauge.yaml, regauge.marshal):
        assert module.loads(module.dumps(value)) == expected
    assert regauge.msgpack.dumps([{Number.ONE: 1}, {Own("a"): 1}]) == b"\x92\x81\x01\x01\x81\xa1a\x01"


@pytest.mark.parametrize("module", [regauge.json, regauge.toml, regauge.bson, regauge.ndjson])
@pytest.mark.parametrize("value", [
    {1: "x", "1": "y"}, {"1": "y", 1: "x"}, {True: "x", "true": "y"}, {1.5: "x", "1.5": "y"}, {b"a": "x", "YQ==": "y"},
    {float("nan"): "x", float("nan"): "y"}, {(1,): "x", "[1]": "y"}, {Name.ONE: "x", 1: "y"},
])
def test_two_keys_whose_nearest_text_is_one_are_refused(module, value):
    for sort_keys in (False, True):
        with pytest.raises(regauge.EncodeError, match="written as the text .*, which is a key of the same dict too"):
            module.dumps([value] if module is regauge.ndjson else value, on_loss="approximate", sort_keys=sort_keys)


def test_keys_whose_nearest_text_differs():
    assert regauge.json.dumps({1: 1, "2": 2, None: {1: 1}}, on_loss="approximate") == b'{"1":1,"2":2,"null":{"1":1}}'
    assert regauge.json.dumps({1: 1, "1": 2}, on_loss="wrap") == b'{"$key:1":1,"1":2}'
    assert regauge.json.dumps({"\ud800": 1, "\ud801": 2}, on_loss="approximate") == b'{"\\ud800":1,"\\ud801":2}'
    with pytest.raises(regauge.EncodeError, match="which is a key of the same dict too"):
        regauge.msgpack.dumps({"\ud800": 1, "\ud801": 2}, on_loss="approximate")


@pytest.mark.parametrize("key", [
    frozenset([1]), (1, frozenset([1, 2])), frozenset([(1, 2)]), frozenset([frozenset([1])]), (frozenset(),),
])
def test_frozensets_in_keys(key):
    for module in (regauge.cbor, regauge.yaml, regauge.marshal, regauge.pickle):
        if module is regauge.yaml and key != frozenset([(1, 2)]) or module is not regauge.yaml:
            back = module.loads(module.dumps({key: 1, "a": {2}}))
            assert back == {key: 1, "a": {2}} and type(back["a"]) is set
