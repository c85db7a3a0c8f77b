"""`convert(map=function)`: what a function returns, and documents that it does not touch."""

from __future__ import annotations

import gc
import weakref

import pytest

import regauge

# Each loses something as Python objects or when these are written: a single-precision number, the tag
# of a time, an extension type's place, a key's type, how a number was written.
EXACT = [
    ("cbor", "cbor", b"\x83\xfa\x3f\x00\x00\x00\xc1\x01\xd8\x64\x01"),
    ("cbor", "cbor", b"\xa2\x01\xf9\x3c\x00\x61a\xfb\x7f\xf8\x00\x00\x00\x00\x00\x01"),
    ("msgpack", "msgpack", b"\x92\xca\x3f\x80\x00\x00\xc7\x02\x05ab"),
    ("bson", "bson", b"\x10\x00\x00\x00\x12a\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00"),
    ("yaml", "yaml", b"- &1\n  a: 1\n- *1\n"),
    ("marshal", "marshal", b"\x04\bo:\bFoo\x06:\x07@ai\x06"),
]


def bytes_of(data, source, target, function, **options):
    return regauge.convert_bytes(data, source, target, map=function, **options)


@pytest.mark.parametrize("source, target, data", EXACT, ids=[f"{one[0]}-{at}" for at, one in enumerate(EXACT)])
def test_untouched_documents_go_through_as_they_were(source, target, data):
    plain = regauge.convert_bytes(data, source, target)
    assert bytes_of(data, source, target, lambda document: document) == plain


def test_a_change_in_place_is_seen():
    def change(document):
        document["list"].append(True)
        return document

    assert bytes_of(b'{"list":[1]}', "json", "json", change) == b'{"list":[1,true]}\n'
    # Values that are equal in Python and differ in what is written.
    for old, new, text in [(1, True, b"true"), (1, 1.0, b"1.0"), (0.0, -0.0, b"-0.0"), (True, 1, b"1")]:
        data = regauge.json.dumps({"a": old})
        assert bytes_of(data, "json", "json", lambda one: one.update(a=new) or one) == b'{"a":' + text + b"}\n"
    # Also the order of keys.
    move = lambda one: one.update(a=one.pop("a")) or one
    assert bytes_of(b'{"a":1,"b":2}', "json", "json", move) == b'{"b":2,"a":1}\n'


def test_other_documents_and_none():
    lines = b'{"n":1}\n{"n":2}\n{"n":3}\n'
    odd = lambda one: {**one, "odd": True} if one["n"] % 2 else regauge.OMIT
    assert bytes_of(lines, "ndjson", "ndjson", odd) == b'{"n":1,"odd":true}\n{"n":3,"odd":true}\n'
    with pytest.raises(TypeError, match="returned None .*regauge.OMIT"):
        bytes_of(lines, "ndjson", "ndjson", lambda one: one.update(n=0))
    assert bytes_of(b"null\n1\n", "ndjson", "ndjson", lambda one: one) == b"null\n1\n"
    assert bytes_of(lines, "ndjson", "msgpack", lambda one: one["n"]) == b"\x01\x02\x03"
    # The elements of one array as documents.
    assert bytes_of(b"[1,2]", "json", "ndjson", lambda one: [one], documents="split") == b"[1]\n[2]\n"
    assert repr(regauge.OMIT) == "regauge.OMIT"


def test_a_file(tmp_path):
    source, target = tmp_path / "a.ndjson", tmp_path / "a.bson"
    source.write_bytes(b"".join(b'{"n":%d}\n' % n for n in range(1000)))
    report = regauge.convert(source, target, map=lambda one: {"n": -one["n"]}, head=500, jobs=2)
    assert (report["documents"], report["exact"]) == (500, True)
    assert list(regauge.iter_load(target)) == [{"n": -n} for n in range(500)]


def test_what_fails(tmp_path):
    source, target = tmp_path / "a.json", tmp_path / "b.json"
    source.write_bytes(b'{"a": {"b": 1}}')

    def fail(document):
        raise KeyError(document["a"]["b"])

    with pytest.raises(KeyError) as caught:
        regauge.convert(source, target, map=fail)
    assert caught.value.args == (1,)
    assert not target.exists()
    # Its own exceptions stop it, also where broken records are passed over.
    with pytest.raises(KeyError):
        regauge.convert(source, target, map=fail, bad="skip")
    with pytest.raises(regauge.EncodeError, match=r"\$\.a\.c") as error:
        regauge.convert(source, target, map=lambda one: one["a"].update(c=object()) or one)
    assert error.value.path == "$.a.c"
    with pytest.raises(regauge.EncodeError, match=r"\$\.a\.b.*bytes"):
        regauge.convert(source, target, map=lambda one: {"a": {"b": b"\xff"}})
    with pytest.raises(TypeError, match="found 'upper' as map, expected a function"):
        regauge.convert(source, target, map="upper")
    with pytest.raises(regauge.LimitError):
        bytes_of(b"[1,2,3,4]", "json", "json", lambda one: one, limits={"nodes": 3})
    assert bytes_of(b'{"a":1}\n{"a"\n{"a":3}\n', "ndjson", "json", lambda one: one, bad="skip",
                    documents="join") == b'[{"a":1},{"a":3}]\n'


# What is one key for Python, and two for the format.
EQUAL = [
    ("yaml", b"1: a\ntrue: b\n", "1 and True", "$.True"),
    ("yaml", b"- x: {a: {0: a, 0.0: b}}\n", "0 and 0.0", "$[0].x.a[\"0.0\"]"),
    ("msgpack", b"\x82\x01\xc3\xcb\x3f\xf0\x00\x00\x00\x00\x00\x00\xc2", "1 and 1.0", '$["1.0"]'),
    ("cbor", b"\x82\x00\xa1\x61a\xa2\x01\xf5\xf5\xf4", "1 and True", "$[1].a.True"),
    ("json", b'{"a":1,"a":2}', "the key 'a' a second time", "$.a"),
]


@pytest.mark.parametrize("source, data, found, path", EQUAL, ids=[f"{one[0]}-{one[3]}" for one in EQUAL])
def test_keys_that_are_equal_in_python(source, data, found, path):
    change = lambda document: [document]
    for function in (change, lambda document: document):
        for options in ({}, {"bad": "skip"} if source != "json" else {}, {"duplicate_keys": None},
                        {"duplicate_keys": "keep"}):
            with pytest.raises(regauge.EncodeError, match=found) as caught:
                bytes_of(data, source, source, function, **options)
            assert (caught.value.kind, caught.value.path) == ("refused", path)
            assert caught.value.hint == 'pass duplicate_keys="last" to give the function the last of them'
    last = bytes_of(data, source, source, change, duplicate_keys="last")
    assert regauge.loads(last, source) == [regauge.loads(data, source)]
    # One that the function does not touch is written as it was.
    kept = bytes_of(data, source, source, lambda document: document, duplicate_keys="last")
    assert kept == regauge.convert_bytes(data, source, source)


def test_the_last_of_equal_keys_is_not_exact(tmp_path):
    source, target = tmp_path / "a.yaml", tmp_path / "b.yaml"
    source.write_bytes(b"1: a\ntrue: b\n")
    with pytest.raises(regauge.EncodeError, match="record 1.*equal in Python"):
        regauge.convert(source, target, map=lambda one: {**one, "x": 1})
    assert not target.exists()
    report = regauge.convert(source, target, map=lambda one: {**one, "x": 1}, duplicate_keys="last")
    assert (report["exact"], report["losses"]) == (False, {"key": 1})
    assert target.read_bytes() == b"1: b\nx: 1\n"


def test_a_set_of_elements_that_are_equal_in_python():
    data = b"\xd9\x01\x02\x83\x01\xf5\xf9\x3c\x00"
    assert regauge.cbor.loads(data) == regauge.Object("cbor", "tag", "258", [1, True, 1.0])
    changed = bytes_of(data, "cbor", "cbor", lambda one: [one])
    assert regauge.cbor.loads(changed) == [regauge.cbor.loads(data)]
    assert regauge.yaml.loads("!!omap [a: 1, a: 2]").value == [{"a": 1}, {"a": 2}]


def test_nothing_is_kept():
    seen = []

    class Kept:
        pass

    def function(document, held=Kept()):
        seen.append(weakref.ref(held))
        return document

    assert bytes_of(b"[1]", "json", "json", function) == b"[1]\n"
    del function
    gc.collect()
    assert seen[0]() is None


def test_the_last_of_equal_keys_is_for_a_function(tmp_path):
    data, source = b'{"a":1,"a":2}', tmp_path / "x.json"
    source.write_bytes(data)
    for call in (lambda: regauge.convert_bytes(data, "json", "json", duplicate_keys="last"),
                 lambda: regauge.convert(source, tmp_path / "y.json", duplicate_keys="last")):
        with pytest.raises(ValueError, match="'last' as duplicate_keys.*map=.*expected 'keep' or 'refuse'"):
            call()
    assert not (tmp_path / "y.json").exists()
    assert regauge.convert_bytes(data, "json", "json", duplicate_keys="keep") == data + b"\n"
