"""regauge.compat's modules compared with those that they stand for, on the same values and documents."""

from __future__ import annotations

import array
import datetime
import io
import json
import random
import re
import subprocess
import sys
import uuid

import pytest
from drop_ins import VALUES, broken, compare, done

import regauge.compat

# --- msgpack


def test_msgpack_reads_and_writes_as_msgpack():
    theirs = pytest.importorskip("msgpack")
    from regauge.compat import msgpack

    written = 0
    for seed, one in enumerate(VALUES):
        compare(msgpack.packb, theirs.packb, one)
        compare(msgpack.packb, theirs.packb, one, use_single_float=True)
        try:
            data = theirs.packb(one)
        except OverflowError:
            continue
        written += 1
        for options in ({}, {"raw": True}, {"use_list": False}, {"strict_map_key": False},
                        {"object_pairs_hook": list}, {"object_hook": len}, {"list_hook": len}):
            compare(msgpack.unpackb, theirs.unpackb, data, **options)
        compare(msgpack.unpackb, theirs.unpackb, data + b"\x01")
        ours, expected = done(msgpack.unpackb, broken(data, seed)), done(theirs.unpackb, broken(data, seed))
        # Of two errors in a document, either may be reported.
        errors = {"ValueError", "UnicodeDecodeError", "FormatError", "ExtraData", "TypeError"}
        assert ours == expected or {ours, expected} <= errors
    assert written > 300


def test_msgpack_types():
    from regauge.compat import msgpack

    when = datetime.datetime(2026, 11, 25, 14, tzinfo=datetime.timezone.utc)
    data = msgpack.packb([when, msgpack.ExtType(5, b"x")], datetime=True)
    stamp = msgpack.Timestamp.from_datetime(when)
    assert msgpack.unpackb(data) == [stamp, msgpack.ExtType(5, b"x")]
    for kind, expected in ((1, stamp.to_unix()), (2, stamp.to_unix_nano()), (3, when)):
        assert msgpack.unpackb(data, timestamp=kind)[0] == expected
    assert msgpack.unpackb(data, ext_hook=lambda code, payload: (code, payload))[1] == (5, b"x")
    with pytest.raises(TypeError):
        msgpack.packb({1, 2})
    assert msgpack.packb({1, 2}, default=sorted) == b"\x92\x01\x02"
    assert msgpack.packb(b"x", use_bin_type=False) == b"\xa1x"
    with pytest.raises(TypeError):
        msgpack.packb(1, colour=2)
    with pytest.raises(TypeError):
        msgpack.unpackb(b"\x01", colour=2)


def test_msgpack_streams():
    from regauge.compat import msgpack

    packed = b"".join(map(msgpack.packb, ["a", [1, 2], {"b": None}]))
    unpacker = msgpack.Unpacker()
    found = []
    for at in range(len(packed)):
        unpacker.feed(packed[at : at + 1])
        found += unpacker
    assert found == ["a", [1, 2], {"b": None}] and unpacker.tell() == len(packed)
    assert list(msgpack.Unpacker(io.BytesIO(packed), read_size=2)) == found
    called = []
    unpacker = msgpack.Unpacker(object_hook=called.append)
    for at in range(len(packed)):
        unpacker.feed(packed[at : at + 1])
        list(unpacker)
    assert called == [{"b": None}]


@pytest.mark.parametrize("seed", range(20))
def test_msgpack_unpacker_does_as_msgpack(seed):
    theirs = pytest.importorskip("msgpack")
    from regauge.compat import msgpack

    at = random.Random(seed)
    values = [one for one in VALUES[seed::20] if done(theirs.packb, one).startswith("b")]
    stream = b"".join(map(theirs.packb, values))
    options = at.choice([{}, {"use_list": False}, {"raw": True}, {"object_hook": len}])
    pair = [module.Unpacker(strict_map_key=False, **options) for module in (msgpack, theirs)]
    steps = 0
    while stream or steps < 400:
        piece, stream = stream[:7], stream[7:]
        for unpacker in pair:
            unpacker.feed(piece)
        for _ in range(at.randrange(4)):
            step = at.choice(["unpack", "unpack", "next", "list"])
            call = {"next": lambda one: next(iter(one)), "list": list}.get(step, lambda one: getattr(one, step)())
            ours, expected = (done(call, unpacker) for unpacker in pair)
            assert ours == expected, (step, options)
        steps += 1
    assert pair[0].tell() == pair[1].tell() > 0


@pytest.mark.parametrize("what, value", [
    ("array", [1, 2, 3]), ("map", {"a": 1, "b": 2, "c": 3}), ("str", "abc"), ("bin", b"abc"),
])
def test_msgpack_lengths(what, value):
    from regauge.compat import msgpack

    data = msgpack.packb(value)
    assert msgpack.unpackb(data, **{f"max_{what}_len": 3}) == value
    assert next(msgpack.Unpacker(io.BytesIO(data), **{f"max_{what}_len": 3})) == value
    with pytest.raises(ValueError, match=f"3 exceeds max_{what}_len"):
        msgpack.unpackb(data, **{f"max_{what}_len": 2})
    with pytest.raises(ValueError, match=f"3 exceeds max_{what}_len"):
        next(msgpack.Unpacker(io.BytesIO(data), **{f"max_{what}_len": 2}))


@pytest.mark.parametrize("options", [
    {"raw": True}, {"unicode_errors": "ignore"}, {"unicode_errors": "surrogateescape"}, {"raw": True, "strict_map_key": False},
])
def test_msgpack_lengths_of_text_that_is_not_utf8(options):
    theirs = pytest.importorskip("msgpack")
    from regauge.compat import msgpack

    for data in (b"\xa5abcd\xff", b"\x91\xa5abcd\xff", b"\x81\xa5abcd\xff\x01"):
        for most in (3, 5):
            compare(msgpack.unpackb, theirs.unpackb, data, max_str_len=most, **options)
            first = [lambda data, library=library: next(library.Unpacker(io.BytesIO(data), max_str_len=most, **options))
                     for library in (msgpack, theirs)]
            compare(*first, data)
    with pytest.raises(ValueError, match=r"^5 exceeds max_str_len\(3\)$"):
        msgpack.unpackb(b"\xa5abcd\xff", max_str_len=3, **options)


def test_msgpack_unpacker_tells_its_position_among_values_parsed_ahead():
    from regauge.compat import msgpack

    pieces = [msgpack.packb({"id": at, "name": "x" * (at % 40)}) for at in range(300)]
    unpacker = msgpack.Unpacker(io.BytesIO(b"".join(pieces)), read_size=1000)
    offset = 0
    for at, piece in enumerate(pieces):
        offset += len(piece)
        if at % 7 == 3:
            unpacker.skip()
        elif at % 7 == 5:
            assert unpacker.read_bytes(len(piece)) == piece
        elif at % 7 == 6:
            assert unpacker.read_map_header() == 2
            assert [unpacker.unpack() for _ in range(4)] == ["id", at, "name", "x" * (at % 40)]
        else:
            assert unpacker.unpack()["id"] == at
        if at % 3 == 0:
            assert unpacker.tell() == offset
    assert list(unpacker) == [] and unpacker.tell() == offset


def test_msgpack_unpacker_in_parts():
    from regauge.compat import msgpack

    packed = b"".join(map(msgpack.packb, [[1, 2], "skipped", {"a": 3}, 4, 5, 6]))
    unpacker = msgpack.Unpacker(io.BytesIO(packed), read_size=3)
    assert unpacker.read_array_header() == 2
    assert [unpacker.unpack(), unpacker.unpack()] == [1, 2]
    unpacker.skip()
    assert unpacker.read_map_header() == 1
    assert [unpacker.unpack(), unpacker.unpack(), unpacker.unpack()] == ["a", 3, 4]
    assert unpacker.read_bytes(1) == b"\x05" and unpacker.tell() == len(packed) - 1
    with pytest.raises(ValueError):
        unpacker.read_array_header()
    assert list(unpacker) == [6] and unpacker.tell() == len(packed)
    with pytest.raises(msgpack.OutOfData):
        unpacker.unpack()


def test_msgpack_unpacker_parses_a_value_in_pieces_a_few_times(monkeypatch):
    from regauge.compat import msgpack

    parsed = []
    first = msgpack.Unpacker._first
    monkeypatch.setattr(msgpack.Unpacker, "_first", lambda *given, **more: parsed.append(0) or first(*given, **more))
    value = {"rows": [{"id": at, "name": f"row {at}"} for at in range(20_000)]}
    packed = msgpack.packb(value)
    unpacker = msgpack.Unpacker()
    for at in range(0, len(packed), 1000):
        assert next(unpacker, None) is None
        unpacker.feed(packed[at : at + 1000])
    assert list(unpacker) == [value]
    assert 2 <= len(parsed) <= 12


# --- the modules that pass what is not plain to the module itself


def test_cbor2_reads_and_writes_as_cbor2():
    theirs = pytest.importorskip("cbor2")
    if not hasattr(theirs, "CBOREncodeTypeError"):
        pytest.skip("an old version of cbor2")
    from regauge.compat import cbor2

    more = [datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc), {1, 2}, b"x", (1, 2), {1: 2},
            theirs.CBORTag(5000, "x"), theirs.undefined]
    for seed, one in enumerate([*VALUES, *more]):
        for options in ({}, {"canonical": True}):
            compare(cbor2.dumps, theirs.dumps, one, **options)
        data = theirs.dumps(one)
        compare(cbor2.loads, theirs.loads, data)
        compare(cbor2.loads, theirs.loads, broken(data, seed))
    with pytest.raises(theirs.CBORDecodeEOF) as caught:
        cbor2.loads(b"\x82\x01")
    assert caught.value.__context__ is None


def bson_values(bson):
    """Returns values of the types that only BSON has, and of some that it refuses."""
    east = datetime.timezone(datetime.timedelta(hours=1))
    when = datetime.datetime(2026, 1, 2, 3, 4, 5, 678901)
    scope = {"_id": 1, "a": [1]}
    return [
        bson.ObjectId(b"0123456789ab"), bson.Int64(5), bson.Int64(2**40), 2**40, bson.Decimal128("1.50"),
        bson.Decimal128("NaN"), bson.Timestamp(1, 2), bson.MinKey(), bson.MaxKey(), bson.Regex("a", "xmi"),
        bson.Regex("a\0"), re.compile("b", re.I), re.compile(b"b"), bson.Code("f()"), bson.Code("f()", scope),
        bson.Code("f()", {}), b"x", bson.Binary(b"x", 2), bson.Binary(b"x", 128), bson.Binary(bytes(16), 3),
        bson.Binary(bytes(16), 4), bson.Binary(bytes(15), 4), uuid.UUID(int=7), when, when.replace(tzinfo=east),
        datetime.datetime.min.replace(tzinfo=east), bson.DatetimeMS(-5), bson.DatetimeMS(2**62), (1, 2), {1, 2},
        bson.SON([("b", 1), ("a", 2)]), bson.DBRef("c", 1), {"$ref": "c", "$id": 1}, {"$ref": 1}, {1: 2},
        {"a\0": 1}, {b"a": 1}, "\ud800", bytearray(b"x"),
    ]


def with_types(value):
    """Returns a value with the types of its parts: an Int64 is equal to an int."""
    if isinstance(value, dict):
        return type(value), [(key, with_types(one)) for key, one in value.items()]
    if isinstance(value, list):
        return [with_types(one) for one in value]
    return type(value), repr(value)


def compare_bson(ours, theirs, *arguments):
    """Like compare; also the types, and the texts of errors."""
    seen = []
    for call in (ours, theirs):
        try:
            found = call(*arguments)
            seen.append(with_types(found if isinstance(found, (bytes, dict)) else list(found)))
        except Exception as error:
            seen.append((type(error), str(error), error.__context__))
    assert seen[0] == seen[1], arguments


def test_bson_reads_and_writes_as_pymongo():
    theirs = pytest.importorskip("bson")
    if not hasattr(theirs, "DatetimeMS"):
        pytest.skip("an old version of pymongo, or another module of that name")
    from regauge.compat import bson

    standard = theirs.UuidRepresentation.STANDARD
    options = [
        theirs.CodecOptions(**one) for one in (
            {}, {"tz_aware": True}, {"uuid_representation": standard},
            {"tz_aware": True, "uuid_representation": standard}, {"document_class": theirs.SON},
            {"tz_aware": True, "tzinfo": datetime.timezone.min}, {"unicode_decode_error_handler": "replace"},
            {"datetime_conversion": theirs.DatetimeConversion.DATETIME_AUTO},
        )
    ]
    values = [*VALUES, *bson_values(theirs)]
    written = 0
    for seed, one in enumerate(values):
        document = {"value": one, "list": [one, {"_id": 2, "x": one}], "_id": seed}
        for encode_options in options:
            compare_bson(bson.encode, theirs.encode, document, False, encode_options)
        compare_bson(bson.encode, theirs.encode, document, True)
        compare_bson(bson.encode, theirs.encode, one)
        try:
            data = theirs.encode(document)
        except Exception:
            continue
        written += 1
        for name in ("decode", "decode_all", "decode_iter"):
            ours, expected = getattr(bson, name), getattr(theirs, name)
            for decode_options in (None, *options, {"a": 1}):
                compare_bson(ours, expected, data, decode_options)
            for bytes_ in (data + data, data + b"x", data[:-1], broken(data, seed), bytearray(data)):
                compare_bson(ours, expected, bytes_)
        compare_bson(*((lambda file, of=of: of.decode_file_iter(io.BytesIO(file))) for of in (bson, theirs)), data * 3)
        compare_bson(*((lambda data, of=of: of.BSON(data).decode()) for of in (bson, theirs)), data)
    assert written > 400
    assert isinstance(bson.BSON.encode({"a": 1}), bson.BSON) and issubclass(bson.BSON, theirs.BSON)


def test_orjson_reads_and_writes_as_orjson():
    theirs = pytest.importorskip("orjson")
    from regauge.compat import orjson

    more = [datetime.date(2026, 1, 1), {1: 2}, {"a": b"x"}, "\ud800", (1, 2), {1, 2}]
    for seed, one in enumerate([*VALUES, *more]):
        for option in (None, theirs.OPT_SORT_KEYS, theirs.OPT_INDENT_2, theirs.OPT_NON_STR_KEYS,
                       theirs.OPT_SORT_KEYS | theirs.OPT_INDENT_2 | theirs.OPT_APPEND_NEWLINE):
            compare(orjson.dumps, theirs.dumps, one, option=option)
            compare(orjson.dumps, theirs.dumps, one, str, option)
        text = json.dumps(one, default=str) if not isinstance(one, str) else '"\\ud800"'
        compare(orjson.loads, theirs.loads, text)
        compare(orjson.loads, theirs.loads, broken(text.encode(), seed))
    for text in ["\ufeff[1]", *ZEROS]:
        compare(orjson.loads, theirs.loads, text)
    compare(orjson.loads, theirs.loads, memoryview(b"[1]"))


# Only the first is an integer for json and orjson.
ZEROS = ["[-0]", "[-0.0]", "[-0e5]", '{"a":-0,"b":[-0.0,0,1]}', "-0", '["-0"]', "[-0.00000]", "[-1e-400]"]


def to_file(dump):
    """Returns a function that returns what a call writes to a file."""

    def written(one, **options):
        file = io.StringIO()
        dump(one, file, **options)
        return file.getvalue()

    return written


def test_json_reads_and_writes_as_json():
    from regauge.compat import json as ours

    for seed, one in enumerate([*VALUES, {1: 2}, "\ud800", (1, 2), {1, 2}, 10**5000]):
        for options in ({}, {"separators": (",", ":")}, {"separators": (",", ":"), "ensure_ascii": False},
                        {"ensure_ascii": False}, {"separators": (", ", ": ")}, {"separators": (",", ": ")},
                        {"indent": 1}, {"sort_keys": True}, {"default": str}):
            compare(ours.dumps, json.dumps, one, **options)
            compare(to_file(ours.dump), to_file(json.dump), one, **options)
        text = json.dumps(one, default=str) if one != 10**5000 else "1" * 5000
        for options in ({}, {"parse_float": str}, {"object_pairs_hook": list}):
            compare(ours.loads, json.loads, text, **options)
        compare(ours.loads, json.loads, broken(text.encode(), seed).decode("latin-1"))
    for text in ["\ufeff[1]", *ZEROS]:
        compare(ours.loads, json.loads, text)
        compare(ours.loads, json.loads, text.encode())
        compare(ours.loads, json.loads, text.encode("utf-16"))
    for one in (bytearray(b"[1]"), memoryview(b"[1]"), array.array("b", b"[1]"), None, 5, ["a"]):
        compare(ours.loads, json.loads, one)
    for one in ("a\x7fb", {"\x7f": ["\x1f\x80"]}):
        for options in ({}, {"ensure_ascii": False}, {"separators": (",", ":")}):
            compare(ours.dumps, json.dumps, one, **options)
    assert ours.dumps("a\x7fb") == '"a\\u007fb"'
    assert ours.load(io.StringIO("[1]")) == [1] and ours.JSONDecodeError is json.JSONDecodeError


# --- install


def test_install_and_uninstall():
    code = (
        "import json, sys, regauge.compat as compat\n"
        "compat.install('json'); compat.install('json', 'msgpack')\n"
        "import json as ours, msgpack, msgpack.exceptions, json.decoder\n"
        "print(ours.__name__, msgpack.__name__, msgpack.exceptions.__name__, json.decoder.__name__)\n"
        "compat.uninstall('msgpack'); compat.uninstall('msgpack'); compat.uninstall()\n"
        "import json as again\n"
        "print(again.__name__, 'msgpack' in sys.modules)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout.split("\n")[:2] == [
        "regauge.compat.json regauge.compat.msgpack regauge.compat.msgpack.exceptions json.decoder",
        "json False",
    ], run.stderr


@pytest.mark.parametrize("call", [regauge.compat.install, regauge.compat.uninstall])
def test_an_unknown_name(call):
    with pytest.raises(ValueError, match="found 'yml', expected one or more of .*yaml"):
        call("yml", "msgpack")
    assert regauge.compat.uninstall() is None


def test_install_needs_a_name():
    with pytest.raises(ValueError, match="found no name"):
        regauge.compat.install()


def test_a_missing_module_is_named():
    code = (
        "import sys; sys.modules['cbor2'] = None\n"
        "try:\n    from regauge.compat import cbor2\n"
        "except ImportError as error:\n    print(error)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "pip install cbor2, or use regauge's own module" in run.stdout
