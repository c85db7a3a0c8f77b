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
    with pytest.raises(TypeError, match="not callable"):
        regauge.convert(source, target, map="upper")
    with pytest.raises(regauge.LimitError):
        bytes_of(b"[1,2,3,4]", "json", "json", lambda one: one, limits={"nodes": 3})
    assert bytes_of(b'{"a":1}\n{"a"\n{"a":3}\n', "ndjson", "json", lambda one: one, bad="skip",
                    documents="join") == b'[{"a":1},{"a":3}]\n'


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
