"""Every format: round trips, the values that it holds, and what it refuses."""

from __future__ import annotations

import collections
import contextlib
import csv
import dataclasses
import datetime as dt
import decimal
import enum
import importlib
import io
import json
import pathlib
import pickle
import shutil
import subprocess
import tempfile
import typing
import uuid

import pytest
from conftest import MARC

import regauge

PLAIN = {
    "null": None,
    "truth": [True, False],
    "integers": [0, 1, -1, 255, 256, 2**31, -(2**31) - 1, 2**63 - 1, -(2**63)],
    "doubles": [0.0, -0.0, 1.5, 1e300, 5e-324, 0.1],
    "text": ["", "a", "abc", "é", "ÿ" * 40, "日本語", "😀 mixed é 日", "x" * 1000, "\x00\n\"\\"],
    "nested": {"a": {"b": [[], {}, [{}]]}},
}
# Those that hold all of it: TOML has no null, and a table only text.
MODULES = [getattr(regauge, name) for name in regauge.FORMATS
           if name not in (*MARC, "ndjson", "toml", "csv", "tsv")]
NAMES = [module.__name__.rpartition(".")[2] for module in MODULES]


@pytest.mark.parametrize("module", MODULES, ids=NAMES)
def test_long_documents_of_every_length(module):
    """A document that outgrows the buffer is written into its `bytes` object: around that size, far beyond it, and after a
    longer and a shorter one."""
    lengths = [*range(32_700, 32_800, 9), 100, 70_000, 3_000_000, 40_000, 1_000_000, 0]
    for length in lengths:
        for value in ({"a": ["x" * length, "é" * (length // 2)]}, {"a": [*range(length // 8), None, True, False, [], {}]}):
            data = module.dumps(value)
            assert type(data) is bytes
            assert module.loads(data) == value, length
            # The bytes that are counted are those that there are, with nothing after them.
            assert bytes(bytearray(data)) == data and hash(data) == hash(bytes(bytearray(data)))


@pytest.mark.parametrize("module", MODULES, ids=NAMES)
def test_long_documents_that_are_given_up(module):
    """What was written of a document that is refused is gone; and so is it where a document is written within another."""
    long = ["x" * 1000] * 100
    for _ in range(3):
        with pytest.raises(regauge.EncodeError):
            module.dumps({"a": long, "b": object()})
    inner = []

    def within(value):
        inner.append(module.dumps({"a": long, "b": value.__class__.__name__}))
        return 7

    value = {"a": long, "b": object(), "c": [object()], "d": long}
    data = module.dumps(value, default=within)
    assert module.loads(data) == {"a": long, "b": 7, "c": [7], "d": long}
    assert inner and all(module.loads(one) == {"a": long, "b": "object"} for one in inner)
    # Shared values are found while writing, which then begins again; this time the document is short.
    answers = iter(["z" * 100_000] + ["short"] * 9)
    both = [1]
    data = module.dumps({"a": object(), "b": both, "c": both}, default=lambda value: next(answers))
    assert module.loads(data)["c"] == [1] and len(module.loads(data)["a"]) in (5, 100_000)
    row = ["y" * 50_000]
    shared = {"a": [row, row, "z" * 100_000]}
    assert module.loads(module.dumps(shared)) == shared


@pytest.mark.parametrize("module", MODULES, ids=NAMES)
def test_plain_data_there_and_back(module):
    back = module.loads(module.dumps(PLAIN))
    assert back == PLAIN
    assert str(back["doubles"][1]) == "-0.0"
    assert [type(one) for one in back["integers"]] == [int] * len(PLAIN["integers"])


@pytest.mark.parametrize("module", MODULES, ids=NAMES)
def test_every_kind_of_buffer(module):
    written = module.dumps({"a": [1]})
    for data in (written, bytearray(written), memoryview(written)):
        assert module.loads(data) == {"a": [1]}
    with pytest.raises(TypeError, match="found int, expected bytes"):
        module.loads(1)


@pytest.mark.parametrize("module", MODULES, ids=NAMES)
def test_files_and_streams(module, tmp_path):
    path = tmp_path / "file"
    module.dump({"a": 1}, path)
    assert module.load(path) == {"a": 1}
    with open(path, "rb") as file:
        assert module.load(file) == {"a": 1}
    buffer = io.BytesIO()
    module.dump({"a": 1}, buffer)
    assert buffer.getvalue() == path.read_bytes()
    if module is not regauge.json:
        with module.Writer(path) as writer:
            for number in range(1000):
                writer.write({"number": number})
        numbers = [one["number"] for one in module.iter_load(path)]
        assert numbers == list(range(1000))
        with open(path, "rb") as file:
            assert sum(1 for _ in module.iter_load(file)) == 1000
        assert sum(1 for _ in module.iter_load(path.read_bytes())) == 1000


@pytest.mark.parametrize("name", ["json", "ndjson", "yaml", "toml", "csv", "tsv"])
def test_files_opened_in_text_mode(name, tmp_path):
    value = {"é": "😀\nb"} if name in ("json", "yaml", "toml") else [{"é": "😀 b"}]
    module, expected = getattr(regauge, name), regauge.dumps(value, name).decode()
    for dump in (module.dump, lambda *given, **options: regauge.dump(*given, format=name, **options)):
        for options in ({}, {"text": True}, {"text": False}):
            memory, path = io.StringIO(newline=""), tmp_path / "a"
            dump(value, memory, **options)
            assert memory.getvalue() == expected
            with open(path, "w", encoding="utf-8", newline="") as file:
                dump(value, file, **options)
            assert path.read_bytes() == expected.encode()
            with tempfile.NamedTemporaryFile("w+", encoding="utf-8", newline="") as file:
                dump(value, file, **options)
                file.seek(0)
                assert file.read() == expected
            # The same bytes into a file in binary mode, and into one by its name.
            binary = io.BytesIO()
            dump(value, binary, **options)
            dump(value, path, **options)
            assert binary.getvalue() == path.read_bytes() == expected.encode()
    with pytest.raises(TypeError, match="opened in text mode, expected one in binary mode"):
        module.Writer(io.StringIO())


@pytest.mark.parametrize("name", ["msgpack", "bson", "cbor", "marshal", "pickle"])
def test_formats_of_bytes_need_binary_mode(name):
    memory = io.StringIO()
    for call in (getattr(regauge, name).dump, lambda *given: regauge.dump(*given, format=name)):
        with pytest.raises(TypeError, match=f"in text mode, expected one in binary mode .'wb'. for {name}"):
            call({"a": 1}, memory)
    assert memory.getvalue() == ""


def test_every_format_of_the_core_has_its_module_and_stub():
    package = pathlib.Path(regauge.__file__).parent
    for name in regauge.FORMATS:
        path = {"marcxml": "marc.xml", "marc-json": "marc.json", "mrk": "marc.mrk", "alephseq": "marc.alephseq"}.get(name, name)
        module = importlib.import_module(f"regauge.{path}")
        assert {"Writer", "dump", "dumps", "iter_load", "load", "loads"} <= set(module.__all__)
        assert module.loads is getattr(regauge._regauge, name.replace("-", "")).loads
        if name != "marc":
            stub = (package / f"{path.replace('.', '/')}.pyi").read_text()
            assert all(f'"{function}"' in stub for function in module.__all__), name


TOML = """\
title = "TOML"
big = 9223372036854775807
ratio = [0.1, -0.0, inf]
on = true

[when]
utc = 1979-05-27T07:32:00Z
offset = 1979-05-27T00:32:00.5-07:00
local = 1979-05-27T07:32:00
day = 1979-05-27
time = 07:32:00.000001

[[fruit]]
name = "apple"

[[fruit]]
"two words" = {a.b = [1, [2]]}
"""


def test_tables_are_what_csv_reads_and_writes(tmp_path):
    rows = [{"name": "Ada", "said": 'a "b",\n\r\n\tc'}, {"name": "", "said": "=1+1 é"}]
    for module, dialect in ((regauge.csv, "excel"), (regauge.tsv, "excel-tab")):
        written = module.dumps(rows, text=True)
        assert list(csv.DictReader(io.StringIO(written, newline=""), dialect=dialect)) == rows
        theirs = io.StringIO(newline="")
        writer = csv.DictWriter(theirs, ["name", "said"], dialect=dialect)
        writer.writeheader()
        writer.writerows(rows)
        assert module.loads(theirs.getvalue()) == rows == module.loads(written)
        path = tmp_path / f"a.{module.__name__[-3:]}"
        with module.Writer(path) as stream:
            for row in rows:
                stream.write(row)
        assert path.read_bytes().decode() == written
        assert regauge.load(path) == list(module.iter_load(path)) == rows
    assert regauge.csv.loads("a;b\n1;x\n", delimiter="semicolon", types="infer") == [{"a": 1, "b": "x"}]
    assert regauge.csv.loads("a,b\n1,2\n", header="no") == [["a", "b"], ["1", "2"]]
    assert regauge.csv.dumps([{"a": {"b": [1]}}], nested="flatten") == b"a.b.0\n1\n"
    assert regauge.csv.loads(regauge.csv.dumps([{"a": None}], on_loss="wrap"), unwrap=True) == [{"a": None}]
    with pytest.raises(regauge.EncodeError, match="which CSV cannot hold"):
        regauge.csv.dumps([{"a": None}])
    with pytest.raises(regauge.DecodeError, match='pass header="no" to read rows as arrays'):
        regauge.csv.loads("a,a\n")
    broken = []
    found = regauge.csv.iter_load(b"a,b\n1\n2,3\n", bad="skip", on_bad=lambda error, data: broken.append(data))
    assert list(found) == [{"a": "2", "b": "3"}] and broken == [b"a,b\n1\n"]


def test_toml_is_what_tomllib_reads(corpus, tmp_path):
    found = regauge.toml.loads(TOML)
    assert found == regauge.toml.loads(regauge.toml.dumps(found)) == regauge.loads(TOML, "toml")
    assert found["when"]["offset"].utcoffset() == dt.timedelta(hours=-7)
    assert found["when"]["time"] == dt.time(7, 32, 0, 1)
    path = tmp_path / "a.toml"
    regauge.dump(found, path)
    assert regauge.load(path) == regauge.toml.load(path) == found
    assert list(regauge.toml.iter_load(path)) == [found]
    assert isinstance(regauge.toml.dumps({"a": 1}, text=True), str)
    with pytest.raises(regauge.EncodeError, match="null"):
        regauge.toml.dumps({"a": None})
    with pytest.raises(regauge.EncodeError):
        regauge.toml.dumps([1])
    with regauge.toml.Writer(io.BytesIO()) as writer:
        writer.write({"a": 1})
        with pytest.raises(regauge.EncodeError, match="second document"):
            writer.write({"b": 2})
    tomllib = pytest.importorskip("tomllib")
    compared = 0
    for path in sorted((corpus / "toml" / "valid").iterdir()):
        # What only TOML 1.1 has, and what is too deep for it.
        with contextlib.suppress(tomllib.TOMLDecodeError, RecursionError):
            text = path.read_text(encoding="utf-8-sig")
            assert repr(tomllib.loads(text)) == repr(regauge.toml.loads(text)), path
            compared += 1
    assert tomllib.loads(TOML) == found and compared > 10


def test_json_is_what_json_reads():
    assert json.loads(regauge.json.dumps(PLAIN)) == PLAIN
    assert regauge.json.loads(json.dumps(PLAIN)) == PLAIN
    assert regauge.json.dumps({"b": 1, "a": 2}, sort_keys=True, text=True) == '{"a":2,"b":1}'
    assert regauge.json.dumps([1, {"a": []}], indent=2, text=True) == (
        '[\n  1,\n  {\n    "a": []\n  }\n]'
    )


def test_text_of_every_length_wherever_it_lies():
    # Enough of them for some to end at a page boundary.
    texts = [chr(33 + n % 90) * length for n in range(300) for length in range(36)]
    texts += [f"{text[1:]}\x01\"" for text in texts]
    keyed = {f"{text}{n}": text for n, text in enumerate(texts)}
    for module in (regauge.json, regauge.msgpack, regauge.cbor, regauge.bson):
        assert module.loads(module.dumps(keyed)) == keyed
    assert json.loads(regauge.json.dumps(texts)) == texts
    assert regauge.json.dumps(texts) == json.dumps(texts, separators=(",", ":")).encode()
    with pytest.raises(regauge.EncodeError, match="zero byte"):
        regauge.bson.dumps({"a\0b": 1})
    assert regauge.bson.loads(regauge.bson.dumps({"ab": "a\0b"})) == {"ab": "a\0b"}


def test_characters_of_every_width_at_every_place():
    for wide in ("é", "ж", "ࠀ", "中", "\uffff", "😀", "😀é", "é中"):
        for filler in ("b", "ü", "б", "中"):
            for before in range(36):
                for after in (*range(20), 60):
                    text = "a" * before + wide + filler * after + wide
                    data = regauge.json.dumps(text)
                    assert data == ('"' + text + '"').encode()
                    assert regauge.json.loads(data) == text


def test_escapes_at_every_place_and_of_every_length():
    for length in (*range(40), 16380, 16384, 16390, 40000):
        for escape in ("\n", "\"", "\\", "\x01", "\u2028", "é", "😀", "\ud800"):
            text = "a" * length + escape + "b" * (length % 7) + escape * 2 + "c"
            for spelled in (json.dumps(text), json.dumps(text, ensure_ascii=False)):
                data = spelled.encode("utf-8", "surrogatepass")
                if b"\xed\xa0" not in data:
                    assert regauge.json.loads(data) == text
            if escape != "\ud800":
                assert json.loads(regauge.json.dumps(text)) == text


def test_runs_of_numbers():
    for values in ([1, -1, 0, 2.5, -2.5, 10 ** 20, -7], list(range(-40, 40)), [0.1, 1, None, 2, "3", 4, [5, 6], 7]):
        for spelled in (json.dumps(values, separators=(",", ":")), json.dumps(values), json.dumps(values, indent=1)):
            assert repr(regauge.json.loads(spelled)) == repr(values)
    for broken in (b"[1,,2]", b"[1,-]", b"[1,02]", b"[1,2", b"[1,2,]", b'{"a":1,2}'):
        with pytest.raises(regauge.DecodeError):
            regauge.json.loads(broken)


def test_containers_of_every_count_and_arrays_of_every_index():
    for count in (0, 1, 9, 10, 11, 15, 16, 23, 24, 99, 100, 101, 999, 1000, 9999, 10_000, 65_535, 65_536):
        value = {"list": [None] * count, "dict": dict.fromkeys(map(str, range(count)))}
        for module in (regauge.json, regauge.msgpack, regauge.cbor, regauge.bson):
            assert module.loads(module.dumps(value)) == value
    peer = pytest.importorskip("bson")
    for count in (9, 10, 99, 100, 999, 1000, 9999, 10_001):
        assert regauge.bson.dumps({"a": [1.5] * count}) == peer.encode({"a": [1.5] * count})


def test_pickle_is_what_pickle_reads():
    for protocol in range(6):
        assert pickle.loads(regauge.pickle.dumps(PLAIN, protocol=protocol)) == PLAIN
        assert regauge.pickle.loads(pickle.dumps(PLAIN, protocol)) == PLAIN


RICH = [
    (1, 2, (3,)),
    {1, 2},
    frozenset({"a"}),
    bytearray(b"ab"),
    b"bytes",
    2**200,
    -(2**64),
    complex(1, -2),
    decimal.Decimal("1.10"),
    decimal.Decimal("Infinity"),
    dt.datetime(2026, 11, 21, 12, 30, 15, 123456),
    dt.datetime(2026, 11, 21, tzinfo=dt.timezone.utc),
    dt.datetime(2026, 11, 21, tzinfo=dt.timezone(dt.timedelta(hours=2))),
    dt.date(1, 1, 1),
    dt.time(23, 59, 59, 1),
    dt.timedelta(days=-1, microseconds=5),
    uuid.UUID(int=2**127),
    collections.OrderedDict(a=1),
    collections.Counter("aab"),
    collections.defaultdict(list, a=[1]),
    collections.deque([1, 2], maxlen=3),
    range(1, 10, 2),
    pathlib.PurePosixPath("/a/b"),
    float("inf"),
    {(1, 2): "tuple", 3: "three", None: "none", b"b": 1},
    "\ud800 alone",
]


@pytest.mark.parametrize("value", RICH, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("protocol", [0, 2, 4, 5])
def test_pickle_holds_all_of_it(value, protocol):
    written = regauge.pickle.dumps(value, protocol=protocol)
    for back in (pickle.loads(written), regauge.pickle.loads(written),
                 regauge.pickle.loads(pickle.dumps(value, protocol))):
        assert back == value
        assert type(back) is type(value)


UTC = dt.timezone.utc
HELD = {
    "msgpack": [b"b", {1: "a"}, float("inf"), dt.datetime(2026, 1, 1, 0, 0, 0, 5, tzinfo=UTC),
                2**64 - 1, regauge.ExtType(5, b"ab"), {(1, 2): 3}],
    "cbor": [b"b", {1: "a"}, 2**64, 2**200, -(2**100), uuid.UUID(int=5), dt.date(2026, 1, 1),
             dt.datetime(2026, 1, 1, tzinfo=UTC), decimal.Decimal("1.10"), {1, 2},
             dt.timedelta(seconds=5), regauge.UNDEFINED, regauge.Simple(99),
             regauge.Object("cbor", "tag", "1234", [1])],
    "yaml": [b"b", {1: "a", None: 2}, 2**64, 2**200, dt.date(2026, 1, 1), {"a", "b"},
             dt.datetime(2026, 1, 1, 5), dt.datetime(2026, 1, 1, tzinfo=UTC), float("inf"),
             regauge.Object("yaml", "tag", "!foo", {"a": 1})],
    "bson": [{"a": value} for value in
             [b"b", dt.datetime(2026, 1, 1, tzinfo=UTC), decimal.Decimal("1.10"),
              regauge.ObjectId("00" * 12), regauge.Regex("a", "i"), regauge.Code("f()"),
              regauge.Symbol("s"), regauge.BsonTimestamp(1, 2), regauge.MIN_KEY, regauge.MAX_KEY,
              regauge.UNDEFINED, regauge.Binary(b"x", 5), uuid.UUID(int=5), float("inf")]],
    "marshal": [b"b", {1: "a"}, 2**200, regauge.Symbol("s"), {regauge.Symbol("k"): 1},
                dt.datetime(2026, 1, 1, tzinfo=UTC), {1, 2}, complex(1.0, 2.0),
                decimal.Decimal("1.5"), decimal.Decimal("-Infinity"), {decimal.Decimal("1e-7"): 1},
                regauge.Object("ruby", "object", "Foo", {"@a": 1})],
}


@pytest.mark.parametrize("name,value", [(name, one) for name in HELD for one in HELD[name]],
                         ids=lambda value: str(value)[:30])
def test_what_a_format_holds(name, value):
    module = getattr(regauge, name)
    back = module.loads(module.dumps(value))
    assert back == value
    assert type(back) is type(value)


DECIMALS = ["0", "-0", "1.10", "-1.5", "12345678901234567890.12345678901234567890", "1e400", "-1e-400",
            "0.000000001", "1000000000", "999999999.999999999", "NaN", "Infinity", "-Infinity"]


def test_a_decimal_is_rubys_bigdecimal():
    written = regauge.marshal.dumps(decimal.Decimal("1.10"))
    assert written == b"\x04\x08u:\x0fBigDecimal\x0e18:0.11e1"
    for text in DECIMALS:
        value = decimal.Decimal(text)
        back = regauge.marshal.loads(regauge.marshal.dumps(value))
        assert type(back) is decimal.Decimal
        assert back == value or back.is_nan() and value.is_nan()
        assert back.is_signed() == value.is_signed()
    twice = decimal.Decimal("0.1")
    assert regauge.marshal.dumps([twice, twice]).endswith(b"u:\x0fBigDecimal\r18:0.1e0@\x06")
    with pytest.raises(regauge.EncodeError, match="Decimal"):
        regauge.marshal.dumps(decimal.Decimal("sNaN"))


def test_ruby_reads_decimals_as_they_are():
    ruby = shutil.which("ruby")
    if ruby is None or subprocess.run([ruby, "-rbigdecimal", "-e", ""], capture_output=True).returncode:
        pytest.skip("no Ruby with bigdecimal")
    script = """
        STDIN.binmode
        pairs = Marshal.load(STDIN.read)
        same = lambda { |one, other| one.is_a?(BigDecimal) && one.sign == other.sign && (one.nan? || one == other) }
        pairs.each { |text, value| same[value, BigDecimal(text)] or abort("#{text} came as #{value.inspect}") }
        STDOUT.binmode.write(Marshal.dump(pairs))
    """
    pairs = [[text, decimal.Decimal(text)] for text in DECIMALS]
    done = subprocess.run([ruby, "-rbigdecimal", "-e", script], input=regauge.marshal.dumps(pairs),
                          capture_output=True)
    assert not done.returncode, done.stderr.decode()
    # And what Ruby writes for them is readable.
    for (text, value), (back_text, back) in zip(pairs, regauge.marshal.loads(done.stdout), strict=True):
        assert back_text == text
        assert back == value or back.is_nan() and value.is_nan()


class Color(enum.Enum):
    RED = "red"


class Number(enum.IntEnum):
    ONE = 1


@dataclasses.dataclass
class Point:
    x: int
    y: "list[Point] | None" = None


class Pair(typing.NamedTuple):
    a: int
    b: int


class Text(str):
    pass


def test_types_of_the_library():
    value = [
        Color.RED, Number.ONE, Point(1, [Point(2)]), Pair(1, 2), pathlib.PurePosixPath("a/b"),
        uuid.UUID(int=0), decimal.Decimal("1.50"), dt.date(2026, 1, 2), dt.time(1, 2),
        dt.datetime(2026, 1, 2, 3, tzinfo=UTC), dt.datetime(2026, 1, 2, 3), {1}, Text("t"),
        dt.timedelta(seconds=90), collections.OrderedDict(a=1),
    ]
    assert regauge.json.dumps(value, text=True) == (
        '["red",1,{"x":1,"y":[{"x":2,"y":null}]},[1,2],"a/b",'
        '"00000000-0000-0000-0000-000000000000",1.50,"2026-01-02","01:02:00",'
        '"2026-01-02T03:00:00Z","2026-01-02T03:00:00",[1],"t","PT90S",{"a":1}]'
    )


def test_attrs_and_numpy():
    attr = pytest.importorskip("attr")
    numpy = pytest.importorskip("numpy")

    @attr.s(auto_attribs=True)
    class Thing:
        a: int

    assert regauge.json.dumps(Thing(1)) == b'{"a":1}'
    value = [numpy.int64(5), numpy.float32(0.5), numpy.bool_(True), numpy.str_("s"),
             numpy.arange(4).reshape(2, 2), numpy.array([1.5, 2.5]),
             numpy.datetime64("2026-01-02T03:04:05")]
    assert regauge.json.dumps(value) == (
        b'[5,0.5,true,"s",[[0,1],[2,3]],[1.5,2.5],"2026-01-02T03:04:05"]'
    )
    with pytest.raises(regauge.EncodeError):
        regauge.json.dumps(numpy.array(["NaT"], dtype="datetime64[s]")[0])


def test_numpy_is_not_imported():
    import subprocess
    import sys

    code = "import regauge, sys; regauge.json.dumps([{1}]); assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_pydantic_by_default():
    pydantic = pytest.importorskip("pydantic")

    class Model(pydantic.BaseModel):
        a: int

    written = regauge.json.dumps([Model(a=1)], default=lambda model: model.model_dump())
    assert written == b'[{"a":1}]'


def test_shared_values_and_cycles():
    shared = [1]
    value = {"a": shared, "b": shared}
    value["self"] = value
    for module in (regauge.yaml, regauge.pickle, regauge.cbor, regauge.marshal):
        back = module.loads(module.dumps(value))
        assert back["a"] is back["b"]
        assert back["self"] is back
    pair = (1, [2])
    for twice in ([pair, pair], {"a": pair, "b": (pair, pair)}, [(), ()]):
        assert pickle.loads(regauge.pickle.dumps(twice)) == twice
    back = pickle.loads(regauge.pickle.dumps([pair, pair]))
    assert back[0] is back[1]
    assert regauge.yaml.dumps({"a": shared, "b": shared}) == b"a: &1\n- 1\nb: *1\n"
    assert regauge.json.dumps([shared, shared]) == b"[[1],[1]]"
    with pytest.raises(regauge.LimitError, match="may hold itself"):
        regauge.json.dumps(value)


def test_an_object_that_holds_itself():
    class Node:
        pass

    node = Node()
    node.me = node
    Node.__qualname__ = "Node"
    globals()["Node"] = Node
    back = regauge.pickle.loads(pickle.dumps(node))
    assert isinstance(back, regauge.Object)
    assert back.value["me"] is back


def test_ndjson_and_detection():
    written = regauge.ndjson.dumps([{"a": 1}, [2]])
    assert written == b'{"a":1}\n[2]\n'
    assert regauge.loads(written) == [{"a": 1}, [2]]
    assert regauge.loads(regauge.msgpack.dumps({"a": 1})) == {"a": 1}
    assert regauge.loads(b"\x80\x04K\x01.") == 1
    with pytest.raises(ValueError, match="found no format"):
        regauge.loads(b"hello")


def test_float_styles():
    values = [0.1, 1e-5, 1e16, 1.25e-7, -0.0, 1e15, 123456789.125, 5e-324]
    written = regauge.json.dumps(values, float_style="python", text=True)
    assert written == "[" + ",".join(map(repr, values)) + "]"
    written = regauge.json.dumps(values, float_style="ruby", text=True)
    assert written == "[0.1,1.0e-05,1.0e+16,1.25e-07,-0.0,1.0e+15,123456789.125,5.0e-324]"
    assert regauge.ndjson.dumps([1e-5], float_style="python") == b"1e-05\n"
    assert regauge.json.dumps({"a": [1e-5, 1, "x"]}, float_style="python", indent=2, text=True) == (
        '{\n  "a": [\n    1e-05,\n    1,\n    "x"\n  ]\n}'
    )
    for style in ("shortest", "python", "ruby"):
        assert regauge.json.loads(regauge.json.dumps(values, float_style=style)) == values
    with pytest.raises(ValueError, match="float_style"):
        regauge.json.dumps(1.5, float_style="c")


def test_broken_lines_can_be_passed_over(tmp_path):
    told = []
    found = regauge.ndjson.iter_load(
        b'{"a": 1}\n{"a": tru}\n[2]\n', bad="skip", on_bad=lambda error, data: told.append((error.offset, data))
    )
    assert list(found) == [{"a": 1}, [2]]
    assert told[0][0] == 15 and b"tru" in told[0][1]


def test_marshal_of_plain_data_and_of_what_is_shared():
    loads = regauge.marshal.loads
    text = b'I"\x06a\x06:\x06ET'
    # In one pass: repeated text is a link.
    assert loads(b"\x04\x08[\x07" + text + b"@\x06") == ["a", "a"]
    for _ in range(20):
        # In two: the list is shared, and a list may contain itself.
        shared = loads(b"\x04\x08[\x08[\x06i\x06@\x06" + text)
        assert shared == [[1], [1], "a"] and shared[0] is shared[1]
        cycle = loads(b"\x04\x08[\x07" + text + b"@\x00")
        assert cycle[0] == "a" and cycle[1] is cycle
        assert loads(b"\x04\x08[\x07" + text + b":\x06b") == ["a", regauge.Symbol("b")]
        # An error has its position, whichever way it is found.
        with pytest.raises(regauge.DecodeError) as raised:
            loads(b"\x04\x08[\x07" + text + b"x")
        assert raised.value.offset == 13
        with pytest.raises(regauge.DecodeError, match="after the value"):
            loads(b"\x04\x08[\x06" + text + b"0")
    seen = []
    shared = b"\x04\x08[\x07{\x06" + text + b"i\x06@\x06"
    assert loads(shared, object_hook=lambda map: seen.append(map) or map)
    assert seen == [{"a": 1}]


class Partial(io.RawIOBase):
    """A file without a buffer that takes a few bytes at a time, and then answers `last`."""

    def __init__(self, room=None, last=None):
        self.taken, self.room, self.last = bytearray(), room, last

    def writable(self):
        return True

    def write(self, data):
        if self.room is not None and len(self.taken) >= self.room:
            return self.last
        self.taken += bytes(data)[:3]
        return len(bytes(data)[:3])


class NothingYet(io.RawIOBase):
    """A file that does not block, after a first piece."""

    def __init__(self, *pieces):
        self.pieces = list(pieces)

    def readable(self):
        return True

    def read(self, size=-1):
        return self.pieces.pop(0) if self.pieces else None


def writers():
    """Returns functions that write to a file object, with what each writes."""
    value = {"key": ["some text", 1]}
    yield lambda file: regauge.json.dump(value, file), regauge.json.dumps(value)

    def stream(file):
        with regauge.msgpack.Writer(file) as writer:
            writer.write(value)

    yield stream, regauge.msgpack.dumps(value)
    record = regauge.marc.Record(fields=[regauge.marc.Field("001", data="x")])

    def marc(file):
        regauge.marc.MARCWriter(file).write(record)

    def xml(file):
        writer = regauge.marc.XMLWriter(file)
        writer.write(record)
        writer.close(close_fh=False)

    for write in (marc, xml):
        whole = io.BytesIO()
        write(whole)
        yield write, whole.getvalue()


def test_files_that_take_a_part_at_a_time():
    for write, expected in writers():
        file = Partial()
        write(file)
        assert file.taken == expected


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_files_that_take_no_more():
    for write, expected in writers():
        for last, error in ((None, BlockingIOError), (0, OSError), (-1, OSError), (99, OSError), ("3", OSError)):
            file = Partial(6, last)
            with pytest.raises(error, match="found a"):
                write(file)
            assert file.taken == expected[:6]


def test_files_of_others_that_write_everything():
    class Sink:
        def __init__(self):
            self.taken = b""

        def write(self, data):
            self.taken += bytes(data)

    for write, expected in writers():
        file = Sink()
        write(file)
        assert file.taken == expected


def test_files_with_nothing_to_read_yet():
    for pieces in ((), (b"[1",)):
        with pytest.raises(BlockingIOError, match="nothing to read yet"):
            regauge.json.load(NothingYet(*pieces))
        with pytest.raises(BlockingIOError, match="nothing to read yet"):
            list(regauge.ndjson.iter_load(NothingYet(*pieces)))
    assert regauge.json.load(NothingYet(b"[1", b",2]", b"")) == [1, 2]
