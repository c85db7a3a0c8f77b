#!/usr/bin/env python3
"""Writes crates/regauge-arrow/tests/files: small Parquet files of several writers, each with what is in it as lines of JSON, and
broken files, whose messages regauge-arrow's tests keep in messages.txt.

    python3 tools/parquet_corpus.py

Needs pyarrow, duckdb and polars. The lines are what pyarrow reads, in the notation of `--on-loss wrap`, so the tests
of regauge-arrow compare two readers. Run it again only to add files: other versions of the writers give other bytes.
"""

import base64
import datetime
import decimal
import json
import pathlib
import uuid

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq

CORPUS = pathlib.Path(__file__).resolve().parent.parent / "crates/regauge-arrow/tests/files"
FOLDER = CORPUS / "valid"
BROKEN = CORPUS / "invalid"
UTC = datetime.timezone.utc
NOON = datetime.datetime(2026, 11, 21, 12, 0, 0, 5, UTC)


def fraction(value, of):
    """The digits after the second, to the nanosecond; `value` counts units of the type."""
    per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[of.unit]
    seconds, rest = divmod(value, per_second)
    digits = f"{rest * (10**9 // per_second):09}".rstrip("0")
    return seconds, f".{digits}" if digits else ""


def moment(value, of):
    seconds, digits = fraction(value, of)
    at = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=seconds)
    return at.isoformat() + digits


def noted(scalar, field):
    """A value of pyarrow in the notation."""
    of = scalar.type
    if not scalar.is_valid:
        return None
    if isinstance(of, pa.BaseExtensionType):
        if of.extension_name == "arrow.uuid":
            return {"$uuid": str(uuid.UUID(bytes=scalar.value.as_py()))}
        return noted(scalar.value, field)
    if pa.types.is_dictionary(of):
        return noted(scalar.cast(of.value_type), field)
    if pa.types.is_list(of) or pa.types.is_large_list(of) or pa.types.is_fixed_size_list(of):
        return [noted(item, of.value_field) for item in scalar.values]
    if pa.types.is_struct(of):
        return {of.field(i).name: noted(scalar[i], of.field(i)) for i in range(of.num_fields)}
    if pa.types.is_map(of):
        pairs = zip(scalar.values.field(0), scalar.values.field(1))
        text = pa.types.is_string(of.key_type)
        return {key.as_py() if text else f"$key:{key.as_py()}": noted(value, of.item_field) for key, value in pairs}
    if pa.types.is_timestamp(of):
        text = moment(scalar.value, of)
        return {"$time": text + "Z"} if of.tz else {"$localDateTime": text}
    if pa.types.is_time(of):
        return {"$localTime": moment(scalar.value, of).split("T")[1]}
    if pa.types.is_duration(of):
        per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[of.unit]
        seconds, rest = divmod(scalar.value, per_second)
        return {"$duration": {"seconds": seconds, "nanoseconds": rest * (10**9 // per_second)}}
    if pa.types.is_date(of):
        return {"$localDate": scalar.as_py().isoformat()}
    if pa.types.is_decimal(of):
        value = scalar.as_py()
        return int(value) if of.scale == 0 else {"$decimal": f"{value:f}"}
    value = scalar.as_py()
    if isinstance(value, bytes):
        return {"$binary": {"base64": base64.b64encode(value).decode(), "subType": "00"}}
    return value


def keep(name):
    """Writes what pyarrow reads of a file next to it."""
    path = FOLDER / f"{name}.parquet"
    table = pq.read_table(path, use_threads=False, partitioning=None)
    lines = []
    for row in range(table.num_rows):
        values = {field.name: noted(table.column(i)[row], field) for i, field in enumerate(table.schema)}
        lines.append(json.dumps(values, ensure_ascii=False, separators=(",", ":")))
    (FOLDER / f"{name}.ndjson").write_text("".join(line + "\n" for line in lines))
    print(f"{path.stat().st_size:6} {name}")


def write(name, table, **options):
    pq.write_table(table, FOLDER / f"{name}.parquet", **options)
    keep(name)


def types():
    """A row of values, and a row of nulls, for every type that documents have."""
    columns = {
        "bool": (pa.bool_(), True),
        "i8": (pa.int8(), -128), "i16": (pa.int16(), -32768), "i32": (pa.int32(), -(2**31)), "i64": (pa.int64(), -(2**63)),
        "u8": (pa.uint8(), 255), "u16": (pa.uint16(), 65535), "u32": (pa.uint32(), 2**32 - 1), "u64": (pa.uint64(), 2**64 - 1),
        "f32": (pa.float32(), 1.5), "f64": (pa.float64(), 0.1),
        "money": (pa.decimal128(9, 2), decimal.Decimal("-12.50")),
        "whole": (pa.decimal128(38, 0), decimal.Decimal(10**37)),
        "wide": (pa.decimal256(50, 10), decimal.Decimal("1234567890123456789012345678901234567890.0123456789")),
        "text": (pa.string(), "é\n\"x\""), "large": (pa.large_string(), "x" * 20), "view": (pa.string_view(), "a text of more than twelve"),
        "bytes": (pa.binary(), b"\0\xff"), "fixed": (pa.binary(3), b"abc"), "bytes_view": (pa.binary_view(), b"view"),
        "date": (pa.date32(), NOON.date()), "date64": (pa.date64(), NOON.date()),
        "clock_ms": (pa.time32("ms"), datetime.time(12, 0, 0, 1000)), "clock_us": (pa.time64("us"), datetime.time(12, 0, 0, 5)),
        "clock_ns": (pa.time64("ns"), 43200000000007),
        "at_ms": (pa.timestamp("ms", "UTC"), NOON.replace(microsecond=1000)), "at_us": (pa.timestamp("us", "UTC"), NOON),
        "at_ns": (pa.timestamp("ns", "UTC"), 1795262400000000007), "before": (pa.timestamp("us", "UTC"), -1),
        "berlin": (pa.timestamp("us", "Europe/Berlin"), 1795262400000005),
        "local_s": (pa.timestamp("s"), 1795262400), "local_us": (pa.timestamp("us"), NOON.replace(tzinfo=None)),
        "duration": (pa.duration("ms"), -1500),
        "category": (pa.dictionary(pa.int8(), pa.string()), "red"),
        "uuid": (pa.uuid(), uuid.UUID(int=5).bytes),
        "list": (pa.list_(pa.int32()), [1, None, 3]), "lists": (pa.list_(pa.list_(pa.string())), [["a"], [], None, ["b", None]]),
        "pair": (pa.list_(pa.float64(), 2), [1.5, -2.5]), "large_list": (pa.large_list(pa.bool_()), [True]),
        "struct": (pa.struct([("a", pa.int64()), ("b", pa.struct([("c", pa.string())]))]), {"a": 1, "b": {"c": None}}),
        "map": (pa.map_(pa.string(), pa.int64()), [("a", 1), ("b", None)]), "keys": (pa.map_(pa.int32(), pa.string()), [(7, "x")]),
        "records": (pa.list_(pa.struct([("x", pa.int8()), ("y", pa.list_(pa.int8()))])), [{"x": 1, "y": [2]}, None, {"x": None, "y": None}]),
        "null": (pa.null(), None),
    }
    table = pa.table({name: pa.array([value, None], of) for name, (of, value) in columns.items()})
    storage = pa.array([uuid.UUID(int=7).bytes, None], pa.binary(16))
    uuids = pa.ExtensionArray.from_storage(pa.uuid(), storage)
    return table.append_column("uuids", pa.ListArray.from_arrays([0, 2, 2], uuids))


def footer(schema):
    """A file of a footer with these columns, each a name and the number of its children."""
    columns = b"".join(b"\x48" + bytes([len(name)]) + name + b"\x15" + varint(2 * children) + b"\x00" for name, children in schema)
    head = bytes([len(schema) << 4 | 12]) if len(schema) < 15 else b"\xfc" + varint(len(schema))
    thrift = b"\x15\x02\x19" + head + columns + b"\x16\x00\x19\x0c\x00"
    return b"PAR1" + thrift + len(thrift).to_bytes(4, "little") + b"PAR1"


def varint(value):
    digits = []
    while value >= 0x80:
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*digits, value])


def invalid(small):
    BROKEN.mkdir(exist_ok=True)
    whole = (FOLDER / "codec-snappy.parquet").read_bytes()
    length = int.from_bytes(whole[-8:-4], "little")
    for name, data in {
        "empty": b"",
        "only-magic": b"PAR1PAR1",
        "text": b"id,name\n1,Ada\n",
        "cut": whole[:-9],
        "encrypted": whole[:-4] + b"PARE",
        "footer-length": whole[:-8] + b"\xff\xff\xff\x7f" + whole[-4:],
        "footer-bytes": whole[: -8 - length] + b"\xff" * length + whole[-8:],
        "children": footer([(b"root", 1), (b"a", 2**31 - 1)]),
        "deep": footer([(b"g", 1)] * 400 + [(b"a", 0)]),
        # More numbers than the pages have values: the decoder would make room for them.
        "deltas": (FOLDER / "encodings.parquet").read_bytes().replace(b"\x80\x01\x04\x32", b"\x80\x01\x04\x7f"),
        # The pages are gone, and the footer is not.
        "pages": whole[:4] + b"\xff" * (len(whole) - 12 - length) + whole[-8 - length :],
    }.items():
        (BROKEN / f"{name}.parquet").write_bytes(data)
    pq.write_table(small, BROKEN / "brotli.parquet", compression="brotli")
    pq.write_table(pa.table({"day": pa.array([0, 2932897], pa.date32())}), BROKEN / "year-10000.parquet")
    pq.write_table(pa.table({"at": pa.array([253402300800], pa.timestamp("s"))}), BROKEN / "local-10000.parquet")
    duckdb.sql(f"COPY (SELECT 1 AS a, {{'gap': INTERVAL 3 MONTH}} AS s) TO '{BROKEN}/interval.parquet' (FORMAT parquet)")


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    write("types", types())
    numbers = pa.table({"n": range(3000), "t": [f"text {n % 7}" for n in range(3000)]})
    write("pages", numbers.slice(0, 600), row_group_size=250, data_page_size=128, write_batch_size=16)
    small = pa.table({"a": [1, 2, None], "b": ["x", None, "x"], "c": [[1.5], [], None]})
    for codec in ["none", "snappy", "gzip", "zstd", "lz4"]:
        write(f"codec-{codec}", small, compression=codec, write_statistics=False)
    write("pages-v2", small, data_page_version="2.0", compression="zstd")
    encoded = pa.table({"delta": list(range(50)), "text": [f"prefix {n}" for n in range(50)], "split": [n / 4 for n in range(50)]})
    write("encodings", encoded, use_dictionary=False, column_encoding={
        "delta": "DELTA_BINARY_PACKED", "text": "DELTA_BYTE_ARRAY", "split": "BYTE_STREAM_SPLIT"})
    write("int96", pa.table({"at": pa.array([NOON, None], pa.timestamp("us"))}), use_deprecated_int96_timestamps=True)
    write("int96-ns", pa.table({"l": [pa.array([1795262400000000007, -1], pa.timestamp("ns"))]}, pa.schema([("l", pa.list_(pa.timestamp("ns")))])), use_deprecated_int96_timestamps=True)
    # What pyarrow reads of it has wrapped around: its lines are written by hand.
    table = pa.table({"at": pa.array([-62135596800, 253402300799], pa.timestamp("s"))})
    pq.write_table(table, FOLDER / "int96-far.parquet", use_deprecated_int96_timestamps=True)
    (FOLDER / "int96-far.ndjson").write_text(
        '{"at":{"$localDateTime":"0001-01-01T00:00:00"}}\n{"at":{"$localDateTime":"9999-12-31T23:59:59"}}\n')
    write("no-arrow-schema", types().select(["bool", "u8", "money", "text", "at_us", "local_us", "clock_us", "list", "map", "uuid"]), store_schema=False)
    write("empty", small.slice(0, 0))
    write("one-column", pa.table({"value": [[1, 2], None]}))
    write("two-levels", small, use_compliant_nested_type=False)

    duckdb.sql(f"""COPY (SELECT 1::UTINYINT AS u, 'x' AS t, 1.50::DECIMAL(9,2) AS d, DATE '2026-11-21' AS day,
        TIMESTAMP '2026-11-21 12:00:00.5' AS local, TIMESTAMPTZ '2026-11-21 12:00:00+00' AS at, TIME '12:00:00' AS clock,
        [1, NULL] AS l, {{'a': 1, 'b': [2]}} AS s, MAP {{'k': 1}} AS m, '\\xAA'::BLOB AS b,
        'ffffffff-0000-0000-0000-000000000001'::UUID AS id, 170141183460469231731687303715884105727::HUGEINT::DOUBLE AS huge
        UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
        TO '{FOLDER}/duckdb.parquet' (FORMAT parquet)""")
    keep("duckdb")
    frame = polars.DataFrame({"a": [1, None], "t": ["x", "y"], "l": [["a"], None], "s": [{"x": 1.5}, {"x": None}],
                              "at": [NOON, None], "c": polars.Series(["red", "red"], dtype=polars.Categorical)})
    frame.write_parquet(FOLDER / "polars.parquet")
    keep("polars")
    invalid(small)


if __name__ == "__main__":
    main()
