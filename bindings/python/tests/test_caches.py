"""The serializer that moves a cache off pickle."""

from __future__ import annotations

import datetime
import enum
import pickle

import pytest

import regauge
from regauge.caches import Serializer

VALUE = {"name": "Ada", "tags": ["a", "b"], "born": None, "price": 2.5}


class Cart:
    def __init__(self, items):
        self.items = items


def test_it_reads_what_it_wrote_and_what_pickle_wrote():
    for format in ("msgpack", "cbor", "json"):
        serializer = Serializer(format)
        for value in (VALUE, [], {}, "text", None, True, 1.5, "17"):
            assert serializer.loads(serializer.dumps(value)) == value
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            assert serializer.loads(pickle.dumps(VALUE, protocol)) == VALUE
        assert serializer.pickles_read == pickle.HIGHEST_PROTOCOL - 1


def test_integers_stay_countable():
    serializer = Serializer()
    assert serializer.dumps(17) == 17
    assert serializer.loads(b"17") == 17
    assert serializer.loads(b"-3") == -3


class Level(enum.IntEnum):
    LOW = 50


def test_integers_of_other_types_are_not_read_as_digits():
    numpy = pytest.importorskip("numpy")
    for format in ("msgpack", "cbor", "json"):
        serializer = Serializer(format)
        for value in [Level.LOW, *map(numpy.int64, range(-60, 60))]:
            assert serializer.loads(serializer.dumps(value)) == value


def test_only_digits_are_read_as_digits():
    # A space and an underscore, which int() takes.
    for value in (-33, -8225, -12577, -24374):
        assert Serializer("cbor").loads(regauge.cbor.dumps(value)) == value


def test_options_of_writing_do_not_stop_reading():
    value = {"a": b"x", 5: 1}
    serializer = Serializer("json", on_loss="wrap")
    assert serializer.loads(serializer.dumps(value)) == value
    serializer = Serializer("json", default=str, limits={"depth": 5})
    assert serializer.loads(serializer.dumps({"a": Cart([])}))["a"].startswith("<")
    with pytest.raises(regauge.LimitError):
        serializer.loads(b"[[[[[[1]]]]]]")
    with pytest.raises(ValueError, match="found protocol=1, expected 2 or later"):
        Serializer(writes="pickle", protocol=1)


def test_old_processes_read_it_until_the_cutover():
    before = Serializer(writes="pickle")
    assert pickle.loads(before.dumps(VALUE)) == VALUE
    after = Serializer()
    assert before.loads(after.dumps(VALUE)) == VALUE
    with pytest.raises(ValueError, match="expected 'format' or 'pickle'"):
        Serializer(writes="both")


def test_old_values_are_counted_and_told():
    told = []
    serializer = Serializer(on_pickle=told.append)
    old = pickle.dumps(VALUE)
    serializer.loads(serializer.dumps(VALUE))
    serializer.loads(old)
    assert (serializer.pickles_read, told) == (1, [old])


def test_a_class_is_made_only_if_it_is_given():
    old = pickle.dumps({"cart": Cart([1, 2]), "at": datetime.date(2026, 11, 26)})
    with pytest.raises(regauge.DecodeError, match=r"the classes .*Cart; pass types= to read them"):
        Serializer().loads(old)
    name = f"{Cart.__module__}.Cart"
    made = Serializer(types={name: lambda fields: Cart(fields["items"])}).loads(old)
    assert (made["cart"].items, made["at"]) == ([1, 2], datetime.date(2026, 11, 26))


def test_the_lock_names_what_it_refuses():
    serializer = Serializer(reads_pickle=False)
    with pytest.raises(regauge.DecodeError, match="found a pickle of plain data, expected msgpack"):
        serializer.loads(pickle.dumps(VALUE))
    with pytest.raises(regauge.DecodeError, match=r"found a pickle with the classes .*Cart, expected msgpack"):
        serializer.loads(pickle.dumps(Cart([])))
    with pytest.raises(ValueError, match="could not read what it writes"):
        Serializer(writes="pickle", reads_pickle=False)


def test_what_the_format_lacks_is_refused():
    with pytest.raises(regauge.EncodeError):
        Serializer("json").dumps(b"bytes")
    with pytest.raises(regauge.EncodeError):
        Serializer().dumps(Cart([]))


def test_it_is_what_settings_name():
    serializer = Serializer()
    # Django and django-redis call it to create one.
    assert serializer() is serializer(options={"DB": 1}) is serializer


def test_celery_leaves_pickle_with_it():
    """A message of Celery goes through kombu: what old code pickles is read, and new code reads both."""
    kombu = pytest.importorskip("kombu.serialization")
    body = ((1, "two"), {"at": datetime.datetime(2026, 11, 29, tzinfo=datetime.timezone.utc)}, {"chord": None})
    _, _, old = kombu.dumps(body, "pickle")
    counted = []
    both = Serializer("cbor", writes="pickle", on_pickle=counted.append)
    new = Serializer("cbor")
    content = {"pickle": "application/x-python-serialize", "regauge": "application/x-regauge"}
    before = [kombu.registry._encoders["pickle"], kombu.registry._decoders[content["pickle"]]]

    def deploy(serializer):
        for name, of in content.items():
            kombu.register(name, serializer.dumps, serializer.loads, of, "binary")

    try:
        deploy(both)
        kind, encoding, written = kombu.dumps(body, "pickle")
        assert (kind, encoding) == (content["pickle"], "binary")
        assert pickle.loads(written) == body, "old code reads it"
        assert kombu.loads(old, kind, encoding, accept=[content["pickle"]]) == body
        assert counted == [old]
        deploy(new)
        kind, encoding, written = kombu.dumps(body, "regauge")
        assert (kind, encoding) == (content["regauge"], "binary")
        assert kombu.loads(written, kind, encoding, accept=[content["regauge"]]) == [list(body[0]), *body[1:]]
        assert kombu.loads(old, content["pickle"], "binary", accept=[content["pickle"]]) == body
        deploy(Serializer("cbor", reads_pickle=False))
        with pytest.raises(kombu.DecodeError, match="found a pickle of plain data, expected cbor"):
            kombu.loads(old, content["pickle"], "binary", accept=[content["pickle"]])
        evil = b"cos\nsystem\n(S'id'\ntR."
        with pytest.raises(kombu.DecodeError):
            kombu.loads(evil, content["pickle"], "binary", accept=[content["pickle"]])
    finally:
        kombu.registry._encoders["pickle"], kombu.registry._decoders[content["pickle"]] = before
        kombu.unregister("regauge")
