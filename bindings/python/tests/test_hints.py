"""The function that raised accepts what a hint suggests; and it helps."""

from __future__ import annotations

import contextlib
import io
import pickle
import re

import pytest

import regauge

KEYWORD = re.compile(
    r"""(?<![\w.])(\w+)=(?:
        (?P<limit>\{"\w+":\ …\})|
        (?P<words>"[^"]*"(?:(?:,\ "[^"]*")*\ or\ "[^"]*")?)|
        (?P<number>\d+(?:\ or\ \d+)*)|
        (?P<other>True|False|…)
    )""",
    re.VERBOSE,
)


def advised(hint):
    """Yields the keyword arguments that a hint names, one by one with each value."""
    for found in KEYWORD.finditer(hint):
        name = found[1]
        if found["limit"]:
            yield name, eval(found["limit"].replace("…", "None"))
        elif found["words"]:
            yield from ((name, word) for word in re.findall(r'"([^"]*)"', found["words"]))
        elif found["number"]:
            yield from ((name, int(number)) for number in re.findall(r"\d+", found["number"]))
        else:
            yield name, {"True": True, "False": False}.get(found["other"], 1 << 40)


def follow(call, *arguments, **options):
    """Calls again as the hint suggests; returns the hint."""
    with pytest.raises(regauge.Error) as caught:
        call(*arguments, **options)
    error = caught.value
    if error.hint is None:
        assert "; pass" not in str(error)
        return None
    assert str(error).endswith("; " + error.hint)
    assert not re.search(r"(?<!xmllint )--[a-z]|\bregauge (inspect|convert)\b", error.hint), error.hint
    for name, value in advised(error.hint):
        if f"without {name}" in error.hint:
            continue
        try:
            call(*arguments, **{**options, name: value})
        except regauge.Error as second:
            # The next error may be different, but the same hint must not recur.
            assert str(second) != str(error), error.hint
    return error.hint


SHORT = {
    "json": b"{}", "ndjson": b"{}\n", "yaml": b"a: 1\n", "msgpack": b"\x80", "cbor": b"\xa0",
    "bson": b"\x05\x00\x00\x00\x00", "marshal": b"\x04\x08{\x00", "pickle": b"}.",
    "marc": b"", "marcxml": b"<collection/>", "marc-json": b"", "mrk": b"", "alephseq": b"", "toml": b"", "csv": b"a\n1\n", "tsv": b"a\n1\n",
}
assert set(SHORT) == set(regauge.FORMATS)


def module(name):
    return getattr(regauge._regauge, name.replace("-", ""))


DEEP = b"[" * 600 + b"]" * 600

LOADS = [
    ("json", b"[1,]", {}, "pass trailing_commas=True to accept it"),
    ("json", b'{"a":1,}', {}, "pass trailing_commas=True to accept it"),
    ("json", b"/* */ 1", {}, "pass comments=True to accept // and /* */"),
    ("json", b"[NaN]", {}, "pass allow_nan=True to accept NaN, Infinity and -Infinity"),
    ("json", b"[-Infinity]", {}, "pass allow_nan=True to accept NaN, Infinity and -Infinity"),
    ("json", b"[1e999]", {}, 'pass numbers="exact" to keep its digits'),
    ("json", DEEP, {}, 'pass limits={"depth": …} to raise it, up to 1024'),
    ("json", b"1" * 5000, {}, 'pass limits={"integer_digits": …} to raise it'),
    ("json", b'"' + b"a" * 200 + b'"', {"limits": {"token_bytes": 99}},
     'pass limits={"token_bytes": …} to raise it'),
    ("json", b'{"a":1}\n{"a":2}', {}, "use regauge.ndjson if every line holds a document"),
    ("json", b'{"a":1,"a":2}', {"duplicate_keys": "refuse"},
     'pass duplicate_keys="last" to take the last'),
    ("json", b"[True]", {}, "JSON writes `true`"),
    ("ndjson", b'{\n"a":1}', {}, "use regauge.json if a document spans several lines"),
    ("ndjson", b"[1,]\n", {}, "pass trailing_commas=True to accept it"),
    ("yaml", b"[1e999]", {}, 'pass numbers="exact" to keep its digits'),
    ("yaml", b"a", {"schema": "json"}, 'pass schema="core" to read it as text'),
    ("yaml", DEEP, {}, 'pass limits={"depth": …} to raise it, up to 1024'),
    ("msgpack", b"\x91" * 600 + b"\x01", {}, 'pass limits={"depth": …} to raise it, up to 1024'),
    ("cbor", b"\x81" * 600 + b"\x01", {}, 'pass limits={"depth": …} to raise it, up to 1024'),
    ("marshal", b"\x04\x08" + b"[\x06" * 600 + b"i\x06", {},
     'pass limits={"depth": …} to raise it, up to 1024'),
    ("pickle", b"U\x01\xe9.", {},
     'pass strings="utf8", "latin1" or "bytes" to read it that way'),
    ("pickle", pickle.dumps(list(range(100))), {"limits": {"record_bytes": 99}},
     'a pickle is read as a whole; pass limits={"record_bytes": …} to raise it'),
]

OBJECT = regauge.Object("ruby", "object", "Foo", {"@a": 1})


def record(text):
    subfields = [{"a": text}]
    field = {"245": {"ind1": " ", "ind2": " ", "subfields": subfields}}
    return {"leader": "00000nam a2200000 a 4500", "fields": [field]}


DUMPS = [
    ("json", [b"a"], {}, 'pass on_loss="wrap" to write '),
    ("json", [OBJECT], {}, 'pass objects="data" to write '),
    ("bson", {"a": 1}, {"document_bytes": 5}, "pass document_bytes=… to raise it, or leave it out"),
    ("marc", [record("a" * 10_000)], {},
     "pass oversize=True to write nines for the length, or write MARCXML or MARC-in-JSON"),
    ("marc", [record("\u2022")], {"write_charset": "marc8"},
     'pass write_charset="utf8" to write UTF-8, or on_loss="wrap" to write references'),
]

CONVERSIONS = [
    (b"[NaN]", "json", "yaml", {}, "pass json_allow_nan=True"),
    (b"\xc4\x01a", "msgpack", "json", {}, 'pass on_loss="wrap"'),
    (b"\x01\x02", "msgpack", "json", {"documents": "keep"},
     'pass to="ndjson", or documents="join" to put them into an array'),
    (b"[{}]", "json", "bson", {"documents": "keep"}, 'pass documents="split"'),
    (b'{"a":1,"a":2}', "json", "json", {"duplicate_keys": "refuse"}, 'pass duplicate_keys="keep" to accept it'),
    (b'{"a":{"$oid":1}}', "json", "json", {"json_extended": "relaxed"},
     "read without json_extended if this is not MongoDB's notation"),
    (b"\x04\x08o:\x08Foo\x06:\x07@ai\x06", "marshal", "json", {}, 'pass objects="data"'),
    (b"1", "json", "json", {"json_indent": 2, "limits": {"depth": 1}}, None),
]


def cases(rows):
    return pytest.mark.parametrize("case", rows, ids=lambda case: f"{case[0]!r:.20}-{case[-1]}")


@cases(LOADS)
def test_hints_of_loads(case):
    name, data, options, expected = case
    assert follow(module(name).loads, data, **options) == expected
    stream = lambda data, **more: list(regauge._regauge.iter_load(name, data, more))
    try:
        stream(data, **options)
    except regauge.Error:
        follow(stream, data, **options)


@cases(DUMPS)
def test_hints_of_dumps(case):
    name, value, options, expected = case
    assert follow(module(name).dumps, value, **options).startswith(expected)


@cases(CONVERSIONS)
def test_hints_of_conversions(case):
    data, source, target, options, expected = case
    if expected is None:
        assert regauge.convert_bytes(data, source, target, **options)
        return
    convert = lambda data, to=target, **more: regauge.convert_bytes(data, source, to, **more)
    assert follow(convert, data, **options).startswith(expected)


def test_what_a_function_does_not_take_is_not_advised():
    with regauge.json.Writer(io.BytesIO()) as writer:
        writer.write(1)
        with pytest.raises(regauge.EncodeError) as caught:
            writer.write(2)
        assert caught.value.hint == "use regauge.ndjson"
    with pytest.raises(regauge.EncodeError) as caught:
        regauge.bson.dumps([1])
    assert caught.value.hint is None
    assert "; " not in str(caught.value)


def test_the_hints_of_every_invalid_file(corpus):
    suffixes = {
        "json": "json", "ndjson": "ndjson", "yaml": "yaml", "msgpack": "msgpack", "cbor": "cbor",
        "bson": "bson", "marshal": "marshal", "pickle": "pickle", "mrc": "marc",
        "marcxml": "marcxml", "xml": "marcxml", "mrk": "mrk", "seq": "alephseq", "toml": "toml", "csv": "csv", "tsv": "tsv",
    }
    hints = set()
    for path in sorted(corpus.glob("*/invalid/*")):
        name = suffixes.get(path.suffix.lstrip("."))
        if name is None:
            continue
        data = path.read_bytes()
        for call in (
            lambda **options: module(name).loads(data, **options),
            lambda **options: regauge.convert_bytes(
                data, **{"from_": name, "to": "json", **options}
            ),
        ):
            try:
                call()
            except regauge.Error:
                hints.add(follow(call))
    assert len(hints) > 20
    assert any("marc_repair=True" in hint for hint in hints if hint)
