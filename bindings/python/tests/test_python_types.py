"""Values of Python's types and their subclasses, at the edges of what the formats hold."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import weakref

import pytest

import regauge


def test_numpy_dates_beyond_those_of_python():
    numpy = pytest.importorskip("numpy")
    day = 86400
    far = numpy.datetime64("20000-01-01")
    seconds = (int(far.astype("int64"))) * day
    for value in (far, far.astype("datetime64[s]"), numpy.array([far])[0]):
        assert regauge.msgpack.loads(regauge.msgpack.dumps(value)) == regauge.Timestamp(seconds, 0)
    with pytest.raises(regauge.EncodeError, match=r"found a duration \(PT1000000000000000S\)"):
        regauge.json.dumps(numpy.timedelta64(10**15, "s"))
    assert regauge.cbor.loads(regauge.cbor.dumps(numpy.timedelta64(10**15, "s"))) == regauge.Duration(10**15, 0)


class Fine(datetime.timedelta):
    """A duration with nanoseconds, as pandas has one."""

    nanoseconds = 789

    def __divmod__(self, other):
        seconds, rest = divmod(datetime.timedelta(seconds=self.total_seconds()), other)
        return seconds, Fine(microseconds=rest.microseconds)


class FineMoment(datetime.datetime):
    def __sub__(self, other):
        rest = datetime.datetime(*self.timetuple()[:6], self.microsecond, self.tzinfo) - other
        return Fine(seconds=rest.total_seconds())


class NotATime(datetime.datetime):
    """As pandas.NaT: a datetime that is none."""

    def __eq__(self, other):
        return False

    def __ne__(self, other):
        return True

    __hash__ = datetime.datetime.__hash__


def test_nanoseconds_of_subclasses():
    moment = FineMoment(1970, 1, 1, 0, 0, 5, 123456, datetime.timezone.utc)
    assert regauge.msgpack.loads(regauge.msgpack.dumps(moment)) == regauge.Timestamp(5, 123456789)
    assert regauge.cbor.loads(regauge.cbor.dumps(Fine(seconds=2))) == regauge.Duration(2, 789)
    assert regauge.json.dumps(Fine(0)) == b'"PT0.000000789S"'
    with pytest.raises(regauge.EncodeError, match="found an object of type .*NotATime") as caught:
        regauge.json.dumps({"at": NotATime(2020, 1, 1)})
    assert caught.value.path == "$.at"


@pytest.mark.parametrize("name", ["yaml", "cbor", "marshal", "toml", "pickle"])
def test_milliseconds_with_an_offset(name):
    module = getattr(regauge, name)
    for microsecond in (0, 1, 10, 500_000, 120_000, 999_990, 901, 100_100, 10_010, 101_000):
        at = datetime.datetime(2020, 1, 1, 12, 0, 0, microsecond, datetime.timezone(datetime.timedelta(hours=1)))
        for value in (at, at.astimezone(datetime.timezone.utc)):
            assert module.loads(module.dumps({"at": value}))["at"] == value
    if name in ("yaml", "toml", "pickle"):
        local = datetime.datetime(2020, 1, 1, 12, 0, 0, 500_000)
        assert module.loads(module.dumps({"at": local}))["at"] == local


@pytest.mark.parametrize("text", ["5", "0", "20", "-7", "1E-7", "1E+22", "1.1E+30", "1E+5", "0E-10", "0.00", "12.50",
                                  "-0.001", "123456789012345678901234567890", "1E-40", "5E-8", "0E+3"])
def test_decimals_in_cbor(text):
    value = decimal.Decimal(text)
    found = regauge.cbor.loads(regauge.cbor.dumps([value]))[0]
    assert type(found) is decimal.Decimal
    assert found.as_tuple() == value.as_tuple()
    cbor2 = pytest.importorskip("cbor2")
    assert cbor2.loads(regauge.cbor.dumps(value)).as_tuple() == value.as_tuple()


class Claims:
    """An object that says of itself what it is not."""

    def __init__(self, of):
        self.of = of

    @property
    def __class__(self):
        return self.of


class Held(dict):
    pass


class HeldList(list):
    pass


class HeldText(str):
    pass


@pytest.mark.parametrize("name", ["json", "msgpack", "pickle", "yaml", "cbor", "bson", "marshal"])
def test_proxies_are_not_what_they_claim(name):
    module = getattr(regauge, name)
    held = Held(a=1), HeldList([1]), HeldText("abc")
    proxies = [weakref.proxy(one) for one in held]
    claims = [Claims(of) for of in (dict, list, tuple, str, int, float, bytes, bool, datetime.datetime, enum.Enum, set)]
    for proxy in proxies + claims:
        with pytest.raises(regauge.EncodeError, match="found an object of type"):
            module.dumps({"a": proxy})
        assert module.loads(module.dumps({"a": proxy}, default=lambda _: "other")) == {"a": "other"}
    assert regauge.json.dumps(list(held)) == b'[{"a":1},[1],"abc"]'


@dataclasses.dataclass
class Both(dict):
    a: int = 1


def test_items_of_a_dict_that_is_a_dataclass_too():
    both = Both()
    both["k"] = 5
    assert regauge.json.dumps(both) == b'{"k":5}'


@pytest.mark.parametrize("value", [
    regauge.Timestamp(0, 10**9), regauge.Timestamp(0, -1), regauge.Duration(0, 10**9), regauge.ExtType(200, b""),
    regauge.Binary(b"x", 300), regauge.BsonTimestamp(-1, 0), regauge.Simple(256),
])
def test_fields_out_of_range(value):
    for module in (regauge.msgpack, regauge.yaml, regauge.cbor, regauge.bson):
        with pytest.raises(regauge.EncodeError, match="out of range or of another type") as caught:
            module.dumps({"a": [value]})
        assert caught.value.path == "$.a[0]"


class Backwards(collections.OrderedDict):
    def __iter__(self):
        return iter(list(super().__iter__())[::-1])


@pytest.mark.parametrize("name", ["json", "ndjson", "yaml", "toml", "msgpack", "bson", "cbor", "marshal", "pickle"])
def test_the_order_of_an_ordered_dict(name):
    codec = getattr(regauge, name)
    for made in (collections.OrderedDict, Backwards):
        value = made(a=1, b={"x": 1}, c=3)
        value.move_to_end("b", last=False)
        value.move_to_end("a")
        back = codec.loads(codec.dumps(value))
        assert list(*back if name == "ndjson" else [back]) == ["b", "c", "a"]
        assert codec.dumps(value, sort_keys=True) == codec.dumps({"a": 1, "b": {"x": 1}, "c": 3}) or name == "pickle"


def test_an_ordered_dict_that_occurs_twice_or_holds_itself():
    value = collections.OrderedDict([("a", 1), (2, 2)])
    value.move_to_end("a")
    for codec in (regauge.yaml, regauge.cbor, regauge.marshal, regauge.pickle):
        back = codec.loads(codec.dumps({"x": value, "y": value}))
        assert back["x"] is back["y"] and list(back["x"]) == [2, "a"]
    value["self"] = value
    back = regauge.cbor.loads(regauge.cbor.dumps(value))
    assert back["self"] is back and list(back) == [2, "a", "self"]
    with pytest.raises(regauge.LimitError, match="may hold itself"):
        regauge.msgpack.dumps(value)


def test_the_order_of_an_ordered_dict_elsewhere(tmp_path):
    from regauge.compat import msgpack

    def moved(value):
        value = collections.OrderedDict(value)
        value.move_to_end("a")
        return value

    assert msgpack.packb(moved({"a": 1, "b": 2})) == b"\x82\xa1b\x02\xa1a\x01"
    assert regauge.convert_bytes(b'{"a":1,"b":2}', "json", "json", map=moved) == b'{"b":2,"a":1}\n'
    with regauge.Store(f"sqlite:{tmp_path / 'x.db'}") as store:
        store.put("k", moved({"a": 1, "b": 2}))
        assert list(store.get("k")) == ["b", "a"]


def test_an_ordered_dict_that_changes_while_it_is_written():
    value = collections.OrderedDict(a=object(), b=1)
    with pytest.raises(regauge.EncodeError, match="changed its size"):
        regauge.json.dumps(value, default=lambda it: value.pop("b"))
