"""Record batches, as seen by the libraries that consume them."""

from __future__ import annotations

import datetime
import decimal
import json
import re
import threading
import uuid

import pytest
from conftest import ROOT

import regauge

pa = pytest.importorskip("pyarrow")
UTC = datetime.timezone.utc


def table(source, format=None, **options):
    """Returns the whole stream as a pyarrow table."""
    stream = regauge.to_arrow(source, format, **options)
    return pa.RecordBatchReader.from_stream(stream).read_all()


def lines(*values):
    return b"".join(regauge.json.dumps(value) + b"\n" for value in values)


def test_plain_rows():
    rows = [
        {"i": 1, "f": 1.5, "t": "é", "b": True, "n": None, "l": [1, 2], "m": {"x": "y"}},
        {"i": None, "f": 2, "t": None, "b": False, "n": None, "l": [], "m": None},
        {"i": -(2**63), "l": [None, 3], "m": {"x": None}},
    ]
    found = table(lines(*rows), "ndjson")
    assert found.schema == pa.schema([
        ("i", pa.int64()), ("f", pa.float64()), ("t", pa.string()), ("b", pa.bool_()), ("n", pa.null()),
        ("l", pa.list_(pa.field("item", pa.int64()))), ("m", pa.struct([("x", pa.string())])),
    ])
    expected = [{name: row.get(name) for name in rows[0]} for row in rows]
    assert found.to_pylist() == expected
    found.validate(full=True)


def test_values_of_binary_formats():
    value = {
        "bytes": b"\0\xff", "when": datetime.datetime(2026, 11, 21, 12, 0, 0, 5, UTC),
        "day": datetime.date(2026, 11, 21), "money": decimal.Decimal("-12.50"), "large": 2**64 - 1,
        "id": uuid.UUID(int=5),
    }
    data = regauge.cbor.dumps(value) + regauge.cbor.dumps({**value, "money": decimal.Decimal("0.125")})
    found = table(data, "cbor")
    assert found.schema.field("when").type == pa.timestamp("us", "UTC")
    assert found.schema.field("money").type == pa.decimal128(38, 3)
    assert found.schema.field("large").type == pa.uint64()
    assert found.schema.field("day").type == pa.date32()
    row = found.to_pylist()[0]
    assert row == {**value, "id": str(value["id"])}
    found.validate(full=True)
    assert table(regauge.cbor.dumps({"n": [2**64 - 1, -1]}), "cbor").to_pylist() == [{"n": [2**64 - 1, -1]}]


def test_times_without_a_zone_and_single_precision():
    local = datetime.datetime(2026, 11, 21, 12, 0, 0, 5)
    data = b"at = 2026-11-21T12:00:00.000005\nclock = 12:00:00.5\nfine = 12:00:00.000000001\n"
    found = table(data, "toml")
    assert found.schema.field("at").type == pa.timestamp("us")
    assert found.schema.field("clock").type == pa.time64("us")
    assert found.schema.field("fine").type == pa.time64("ns")
    assert found.select(["at", "clock"]).to_pylist() == [{"at": local, "clock": datetime.time(12, 0, 0, 500000)}]
    found = table(regauge.pickle.dumps({"for": datetime.timedelta(seconds=-1, microseconds=5)}), "pickle")
    assert found.schema.field("for").type == pa.duration("us")
    assert found.to_pylist() == [{"for": datetime.timedelta(seconds=-1, microseconds=5)}]
    found = table(b"\x81\xa1f\xca\x3f\xc0\x00\x00", "msgpack")
    assert found.schema.field("f").type == pa.float32() and found.to_pylist() == [{"f": 1.5}]
    fixed = pa.schema([("b", pa.binary(2))])
    assert table(regauge.cbor.dumps({"b": b"ab"}), "cbor", schema=fixed).to_pylist() == [{"b": b"ab"}]
    with pytest.raises(pa.ArrowInvalid, match="the column's length"):
        table(regauge.cbor.dumps({"b": b"abc"}), "cbor", schema=fixed)


def test_shapes_of_files(tmp_path):
    rows = [{"a": number} for number in range(5)]
    (tmp_path / "a.json").write_text(json.dumps(rows))
    (tmp_path / "b.json").write_text(json.dumps(rows[0]))
    (tmp_path / "c.yaml").write_bytes(b"a: 1\n---\na: 2\n")
    assert table(tmp_path / "a.json").to_pylist() == rows
    assert table(str(tmp_path / "b.json")).to_pylist() == rows[:1]
    assert table(tmp_path / "c.yaml").to_pylist() == [{"a": 1}, {"a": 2}]
    assert table(b"[1, 2, null]", "json").to_pylist() == [{"value": 1}, {"value": 2}, {"value": None}]
    assert table(b"[[1], [2, 3]]", "json").to_pylist() == [{"value": [1]}, {"value": [2, 3]}]
    single = pa.schema([("value", pa.int32())])
    assert table(b"1\n2\n", "ndjson", schema=single).to_pylist() == [{"value": 1}, {"value": 2}]
    assert table(b'{"value": 1}\n', "ndjson", schema=single).to_pylist() == [{"value": 1}]
    assert table(b"", "ndjson", schema=single).num_rows == 0
    assert table(b"", "ndjson").num_rows == 0
    assert table(b'{"a": {}}', "json").to_pylist() == [{"a": "{}"}]
    with pytest.raises(FileNotFoundError):
        regauge.to_arrow(tmp_path / "none.json")
    with pytest.raises(ValueError, match="no format"):
        regauge.to_arrow(b"")


def test_batches_come_as_they_are_taken(tmp_path):
    path = tmp_path / "a.ndjson"
    path.write_bytes(b"".join(b'{"n": %d, "t": "text"}\n' % number for number in range(250_000)))
    stream = regauge.to_arrow(path, batch_size=10_000)
    reader = pa.RecordBatchReader.from_stream(stream)
    first = reader.read_next_batch()
    assert first.num_rows == 10_000 and first.column(0)[9_999].as_py() == 9_999
    del reader
    sizes = [batch.num_rows for batch in pa.RecordBatchReader.from_stream(stream)]
    assert sizes == [10_000] * 25
    again = pa.RecordBatchReader.from_stream(stream).read_all()
    assert again.column("n").to_pylist() == list(range(250_000))


def test_abandoned_streams_end_their_threads(tmp_path):
    path = tmp_path / "a.ndjson"
    path.write_bytes(b'{"n": 1}\n' * 100_000)

    def threads():
        with open("/proc/self/status") as file:
            return int(next(line for line in file if line.startswith("Threads")).split()[1])

    stream = regauge.to_arrow(path, batch_size=100)
    before = threads()
    for _ in range(20):
        reader = pa.RecordBatchReader.from_stream(stream)
        reader.read_next_batch()
        del reader
        stream.__arrow_c_stream__()
    for _ in range(200):
        if threads() <= before + 1:
            break
        threading.Event().wait(0.02)
    assert threads() <= before + 1


def test_what_does_not_fit_is_an_error_with_its_place():
    rows = [{"a": {"b": [1]}}] * 5 + [{"a": {"b": [1, "x"]}}]
    with pytest.raises(regauge.Error, match="an integer as before") as caught:
        regauge.to_arrow(lines(*rows), "ndjson")
    assert caught.value.path == "$.a.b[1]" and caught.value.record == 6
    assert "on_loss" in str(caught.value)
    stream = regauge.to_arrow(lines(*rows), "ndjson", sample=5)
    with pytest.raises(pa.ArrowInvalid, match=r"record 6.*\$\.a\.b\[1\]: found the text"):
        pa.RecordBatchReader.from_stream(stream).read_all()
    with pytest.raises(pa.ArrowInvalid, match=r"\$\.c: found"):
        table(lines({"a": 1}, {"a": 1, "c": 2}), "ndjson", sample=1)
    with pytest.raises(pa.ArrowInvalid, match="expected a double"):
        table(lines({"a": 1.5}, {"a": 2**53 + 1}), "ndjson")
    with pytest.raises(regauge.DecodeError) as caught:
        regauge.to_arrow(b'{"a": 1}\n{"a": tru}\n', "ndjson")
    assert caught.value.offset == 15
    with pytest.raises(regauge.Error, match="columns"):
        deep = b'{"a":' * 150 + b"1" + b"}" * 150
        regauge.to_arrow(deep, "json")


def test_policies():
    rows = [{"a": 1, "t": "x"}, {"a": "two", "t": {"k": [1]}}, {"a": None, "t": None}]
    wrapped = regauge.to_arrow(lines(*rows), "ndjson", on_loss="wrap")
    found = pa.RecordBatchReader.from_stream(wrapped).read_all()
    assert found.to_pylist() == [
        {"a": "1", "t": "x"}, {"a": "two", "t": '{"k":[1]}'}, {"a": None, "t": None}
    ]
    rows = [{"a": 1, "f": 0.5}, {"a": "two", "f": 2**53 + 1, "new": 1}, {"a": [1], "f": None}]
    near = regauge.to_arrow(lines(*rows), "ndjson", on_loss="approximate", sample=1)
    found = pa.RecordBatchReader.from_stream(near).read_all()
    assert found.to_pylist() == [
        {"a": 1, "f": 0.5}, {"a": None, "f": float(2**53)}, {"a": None, "f": None}
    ]
    assert near.losses == {"value": 2, "rounded": 1, "field": 1}


def test_schemas():
    schema = pa.schema([
        ("i8", pa.int8()), ("u16", pa.uint16()), ("f32", pa.float32()), ("s", pa.large_string()),
        ("d", pa.decimal128(10, 2)), ("m", pa.map_(pa.string(), pa.int64())),
        ("l", pa.large_list(pa.int32())), ("at", pa.timestamp("ms", "UTC")),
        pa.field("must", pa.int64(), nullable=False),
    ])
    at = datetime.datetime(2026, 11, 21, 1, 2, 3, 4000, UTC)
    row = {"i8": -128, "u16": 65_535, "f32": 0.5, "s": "text", "d": decimal.Decimal("1.25"),
           "m": {"a": 1, "b": None}, "l": [1, None], "at": at, "must": 5}
    found = table(regauge.cbor.dumps(row), "cbor", schema=schema)
    assert found.schema == schema
    assert found.to_pylist() == [{**row, "m": [("a", 1), ("b", None)]}]
    found.validate(full=True)
    for name, wrong in [("i8", 128), ("u16", -1), ("f32", 0.1), ("s", 1), ("m", {"a": "x"}),
                        ("at", at.replace(microsecond=1)), ("must", None),
                        ("d", decimal.Decimal("1.255"))]:
        with pytest.raises(pa.ArrowInvalid, match=rf"\$\.{name}"):
            table(regauge.cbor.dumps({**row, name: wrong}), "cbor", schema=schema)
    with pytest.raises(regauge.Error, match="no document gives"):
        regauge.to_arrow(b"{}", "json", schema=pa.schema([("x", pa.month_day_nano_interval())]))
    with pytest.raises(TypeError, match="as schema"):
        regauge.to_arrow(b"{}", "json", schema={"x": "int"})
    with pytest.raises(TypeError, match="hook"):
        regauge.to_arrow(b"{}", "json", object_hook=len)
    inferred = regauge.to_arrow(b'{"a": 1}', "json")
    assert pa.schema(inferred) == pa.schema([("a", pa.int64())])
    asked = pa.RecordBatchReader.from_stream(inferred, schema=pa.schema([("a", pa.int16())]))
    assert asked.read_all().schema.field("a").type == pa.int16()


def test_marc(data):
    path = next(path for path in sorted((data / "marc" / "binary").rglob("*.mrc")))
    found = table(path, "marc")
    records = list(regauge.iter_load(path, "marc"))
    assert found.num_rows == len(records) > 0
    found.validate(full=True)
    for row, record in zip(found.to_pylist(), records):
        assert row["leader"] == record["leader"] and len(row["fields"]) == len(record["fields"])
        for field, entry in zip(row["fields"], record["fields"]):
            [(tag, content)] = entry.items()
            assert field["tag"] == tag
            if isinstance(content, str):
                assert field["data"] == content and field["subfields"] is None
            else:
                assert [{one["code"]: one["value"]} for one in field["subfields"]] == content["subfields"]


def test_real_documents(data):
    text = (data / "json" / "twitter.json").read_bytes()
    statuses = json.loads(text)["statuses"]
    found = table(regauge.ndjson.dumps(statuses), "ndjson", on_loss="wrap")
    assert found.num_rows == len(statuses)
    assert found.column("text").to_pylist() == [status["text"] for status in statuses]
    found.validate(full=True)


def test_polars():
    polars = pytest.importorskip("polars")
    stream = regauge.to_arrow(lines({"a": 1, "b": {"c": ["x", None]}}, {"a": 2, "b": None}), "ndjson")
    frame = polars.DataFrame(stream)
    assert frame.to_dicts() == [{"a": 1, "b": {"c": ["x", None]}}, {"a": 2, "b": None}]


def test_duckdb():
    duckdb = pytest.importorskip("duckdb")
    rows = regauge.to_arrow(lines(*({"g": number % 3, "n": number} for number in range(1_000))), "ndjson")
    found = duckdb.sql("SELECT g, sum(n) FROM rows GROUP BY g ORDER BY g").fetchall()
    assert found == [(group, sum(range(group, 1_000, 3))) for group in range(3)]
    assert rows is not None


def test_parquet_as_documented(tmp_path, monkeypatch):
    page = (ROOT / "docs/python.md").read_text()
    [block] = [one for one in re.findall(r"```python\n(.*?)```", page, re.S) if "ParquetWriter" in one]
    monkeypatch.chdir(tmp_path)
    documents = [{"id": number, "lines": [{"item": "é", "price": 0.5}], "late": number % 2 == 0}
                 for number in range(1000)]
    regauge.ndjson.dump(documents, "orders.ndjson")
    exec(block, {"regauge": regauge, "pyarrow": pa, "rows": regauge.to_arrow("orders.ndjson")})
    assert list(regauge.iter_load("orders.msgpack")) == documents


@pytest.mark.parametrize("data", [b'{"a":1,"a":2}\n', b'{"b":[{"a":1,"a":2}]}\n'])
def test_a_key_that_occurs_twice(data):
    for on_loss in ("refuse", "wrap"):
        with pytest.raises(Exception, match="expected each key once in a map.*on_loss=\"approximate\" to keep the last one"):
            table(data, "ndjson", on_loss=on_loss)
    stream = regauge.to_arrow(data, "ndjson", on_loss="approximate")
    assert "2" in str(pa.RecordBatchReader.from_stream(stream).read_all().to_pylist())
    assert stream.losses == {"key": 1}
