"""A data source for PySpark 4: `spark.read.format("regauge")`, and the same for writing.

    from regauge.spark import RegaugeDataSource

    spark.dataSource.register(RegaugeDataSource)
    frame = spark.read.format("regauge").option("format", "marc").load("records/*.mrc")
    frame.write.format("regauge").option("format", "ndjson").save("out")

Options for both: format (a name in regauge.FORMATS; by default taken from the file's name). For
reading: split_bytes (bytes per task, 32 MiB), sample (number of documents from which the schema is
inferred, 1,000), bad ("stop", or "skip" to skip broken records).

Streams of NDJSON, MARC 21 and BSON are split across tasks at record boundaries, other files are one
task each. MARC records are rows of leader and fields; for other formats the schema is given, or
inferred from the first documents. A value that does not fit the schema becomes its JSON in a text
column, and is an error in any other.
"""

from __future__ import annotations

import glob
import io
import os
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceWriter,
    InputPartition,
    WriterCommitMessage,
)
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    DoubleType,
    LongType,
    MapType,
    NullType,
    Row,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

import regauge

_MARC = ("marc", "marcxml", "marc-json", "mrk", "alephseq")
_SPLIT = ("ndjson", "marc", "bson")
_SUFFIXES = {"marc": "mrc", "marcxml": "xml", "marc-json": "marc.jsonl", "alephseq": "seq"}

MARC_SCHEMA = StructType([
    StructField("leader", StringType(), False),
    StructField("fields", ArrayType(StructType([
        StructField("tag", StringType(), False),
        StructField("ind1", StringType()),
        StructField("ind2", StringType()),
        StructField("data", StringType()),
        StructField("subfields", ArrayType(StructType([
            StructField("code", StringType(), False),
            StructField("value", StringType(), False),
        ]))),
    ])), False),
])


@dataclass
class Part(InputPartition):
    """Yields the records of a file that begin within these bytes."""

    path: str
    start: int
    end: int

    def __init__(self, path: str, start: int, end: int) -> None:
        self.path, self.start, self.end = path, start, end


def _paths(pattern: str) -> list[str]:
    """Returns the files of a path: the file itself, those in a folder, or those matching a
    pattern."""
    pattern = pattern.removeprefix("file://").removeprefix("file:")
    found = sorted(glob.glob(pattern)) if glob.has_magic(pattern) else [pattern]
    files = []
    for one in found:
        if os.path.isdir(one):
            inside = sorted(os.scandir(one), key=lambda entry: entry.name)
            files += [entry.path for entry in inside if entry.is_file() and entry.name[0] not in "._"]
        else:
            files.append(one)
    if not files:
        raise FileNotFoundError(f"found no file at {pattern}")
    return files


def _boundary(file: io.BufferedReader, format: str, at: int) -> int:
    """Returns the position of the first record that begins at or after `at`."""
    if at == 0:
        return 0
    end = b"\n" if format == "ndjson" else b"\x1d"
    file.seek(at - 1)
    place, last = at - 1, b""
    while piece := file.read(1 << 16):
        window = last + piece
        found = window.find(end)
        while found >= 0:
            behind = window[found + 1 : found + 6]
            # A MARC record begins with its length; broken data may contain a lone terminator.
            if format == "ndjson" or len(behind) < 5 or behind.lstrip(b"\r\n")[:5].isdigit():
                return place - len(last) + found + 1
            found = window.find(end, found + 1)
        place += len(piece)
        last = window[-8:]
    return place


def _bson_starts(path: str, split_bytes: int) -> list[int]:
    """Returns the starts of parts of a BSON stream: its documents contain their length."""
    starts, at, size = [0], 0, os.path.getsize(path)
    with open(path, "rb") as file:
        while at + 5 <= size:
            file.seek(at)
            length = int.from_bytes(file.read(4), "little")
            if length < 5:
                break
            at += length
            if at - starts[-1] >= split_bytes and at < size:
                starts.append(at)
    return starts


def _split(path: str, format: str, split_bytes: int) -> list[Part]:
    """Returns the parts of a file, each beginning at a record."""
    size = os.path.getsize(path)
    if format not in _SPLIT or size <= split_bytes:
        return [Part(path, 0, size)]
    if format == "bson":
        starts = _bson_starts(path, split_bytes)
    else:
        with open(path, "rb") as file:
            wanted = range(0, size, split_bytes)
            starts = sorted({_boundary(file, format, at) for at in wanted})
    ends = [*starts[1:], size]
    return [Part(path, start, end) for start, end in zip(starts, ends) if start < end]


class _Slice(io.RawIOBase):
    """A part of a file, as a file."""

    def __init__(self, path: str, start: int, end: int) -> None:
        self._file = open(path, "rb")  # noqa: SIM115
        self._file.seek(start)
        self._left = end - start

    def read(self, size: int = -1) -> bytes:
        """Reads up to this many bytes."""
        size = self._left if size < 0 else min(size, self._left)
        data = self._file.read(size)
        self._left -= len(data)
        return data

    def close(self) -> None:
        """Closes the file."""
        self._file.close()
        super().close()


def _infer(value: Any) -> DataType:
    """Returns the type of a value."""
    import datetime

    if isinstance(value, bool):
        return BooleanType()
    if isinstance(value, int):
        return LongType() if -(2**63) <= value < 2**63 else StringType()
    if isinstance(value, float):
        return DoubleType()
    if isinstance(value, bytes):
        return BinaryType()
    if isinstance(value, datetime.datetime):
        return TimestampType()
    if isinstance(value, datetime.date):
        return DateType()
    if isinstance(value, dict):
        return StructType([StructField(str(key), _infer(one)) for key, one in value.items()])
    if isinstance(value, (list, tuple)):
        element: DataType = NullType()
        for one in value:
            element = _merge(element, _infer(one))
        return ArrayType(element)
    return NullType() if value is None else StringType()


def _merge(one: DataType, other: DataType) -> DataType:
    """Returns the type that can hold both; text if there is no other."""
    if isinstance(one, NullType) or one == other:
        return other
    if isinstance(other, NullType):
        return one
    if isinstance(one, StructType) and isinstance(other, StructType):
        types = {field.name: field.dataType for field in one.fields}
        for field in other.fields:
            types[field.name] = _merge(types.get(field.name, NullType()), field.dataType)
        return StructType([StructField(name, of) for name, of in types.items()])
    if isinstance(one, ArrayType) and isinstance(other, ArrayType):
        return ArrayType(_merge(one.elementType, other.elementType))
    if {type(one), type(other)} == {LongType, DoubleType}:
        return DoubleType()
    return StringType()


def _settle(of: DataType) -> DataType:
    """Returns text for what was always null, and for structs without fields."""
    if isinstance(of, StructType) and of.fields:
        return StructType([StructField(one.name, _settle(one.dataType)) for one in of.fields])
    if isinstance(of, ArrayType):
        return ArrayType(_settle(of.elementType))
    return StringType() if isinstance(of, (NullType, StructType)) else of


def _fit(value: Any, of: DataType) -> Any:
    """Converts a value to Spark's representation of a type."""
    if value is None:
        return None
    if isinstance(of, StructType) and isinstance(value, dict):
        return tuple(_fit(value.get(field.name), field.dataType) for field in of.fields)
    if isinstance(of, ArrayType) and isinstance(value, (list, tuple)):
        return [_fit(one, of.elementType) for one in value]
    if isinstance(of, MapType) and isinstance(value, dict):
        return {key: _fit(one, of.valueType) for key, one in value.items()}
    if isinstance(of, StringType) and not isinstance(value, str):
        return regauge.json.dumps(value, text=True, on_loss="wrap")
    if isinstance(of, DoubleType) and isinstance(value, int):
        return float(value)
    return value


def _marc_row(record: dict[str, Any]) -> tuple[Any, ...]:
    """Returns the row of a record in the shape of MARC-in-JSON."""
    fields: list[tuple[Any, ...]] = []
    for entry in record["fields"]:
        for tag, content in entry.items():
            if isinstance(content, dict):
                pairs = [pair for one in content["subfields"] for pair in one.items()]
                fields.append((tag, content["ind1"], content["ind2"], None, pairs))
            else:
                fields.append((tag, None, None, content, None))
    return record["leader"], fields


def _marc_record(row: Any) -> dict[str, Any]:
    """Returns the record of a row."""
    fields: list[dict[str, Any]] = []
    for field in row["fields"]:
        if field["subfields"] is None:
            fields.append({field["tag"]: field["data"]})
        else:
            subfields = [{one["code"]: one["value"]} for one in field["subfields"]]
            content = {"ind1": field["ind1"], "ind2": field["ind2"], "subfields": subfields}
            fields.append({field["tag"]: content})
    return {"leader": row["leader"], "fields": fields}


def _plain(value: Any) -> Any:
    """Converts a Spark value to plain data."""
    if isinstance(value, Row):
        return {name: _plain(one) for name, one in value.asDict().items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return bytes(value) if isinstance(value, bytearray) else value


class RegaugeDataSource(DataSource):
    """The data source "regauge"."""

    @classmethod
    def name(cls) -> str:
        """Returns the name for format()."""
        return "regauge"

    def _format(self, path: str) -> str:
        named = self.options.get("format")
        found = named or regauge._regauge.detect_path(path)
        if found is None:
            raise ValueError(f"found no format in the name of {path}; pass option('format', …)")
        return found

    def schema(self) -> StructType:
        """Returns the schema of MARC, or that of the first documents."""
        path = _paths(self.options["path"])[0]
        format = self._format(path)
        if format in _MARC:
            return MARC_SCHEMA
        most = int(self.options.get("sample", "1000"))
        found: DataType = NullType()
        for document, _ in zip(_documents(path, format, 0, os.path.getsize(path), "stop"), range(most)):
            found = _merge(found, _infer(document))
        settled = _settle(found)
        if isinstance(settled, StructType):
            return settled
        return StructType([StructField("value", settled)])

    def reader(self, schema: StructType) -> DataSourceReader:
        """Returns a reader."""
        paths = _paths(self.options["path"])
        return _Reader(paths, self._format(paths[0]), schema, dict(self.options))

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        """Returns a writer."""
        format = self.options.get("format")
        if format is None:
            raise ValueError("found no format; pass option('format', …)")
        return _Writer(self.options["path"], format, schema, overwrite)


def _documents(path: str, format: str, start: int, end: int, bad: str) -> Iterator[Any]:
    """Yields the documents of a part of a file."""
    options = {"bad": "skip"} if bad == "skip" and format in (*_MARC, "ndjson") else {}
    if format == "json":
        value = regauge.load(path, "json")
        yield from value if isinstance(value, list) else [value]
        return
    with _Slice(path, start, end) as file:
        yield from regauge.iter_load(file, format, **options)


class _Reader(DataSourceReader):
    def __init__(
        self, paths: list[str], format: str, schema: StructType, options: dict[str, str]
    ) -> None:
        self._paths, self._format, self._schema = paths, format, schema
        self._bad = options.get("bad", "stop")
        self._split_bytes = int(options.get("split_bytes", str(32 << 20)))

    def partitions(self) -> list[InputPartition]:
        """Returns the parts of all files."""
        parts: list[InputPartition] = []
        for path in self._paths:
            parts += _split(path, self._format, self._split_bytes)
        return parts

    def read(self, partition: InputPartition) -> Iterator[tuple[Any, ...]]:
        """Yields the rows of a part."""
        assert isinstance(partition, Part)
        path, start, end = partition.path, partition.start, partition.end
        for document in _documents(path, self._format, start, end, self._bad):
            if self._format in _MARC:
                yield _marc_row(document)
            elif isinstance(document, dict):
                yield _fit(document, self._schema)
            else:
                yield (_fit(document, self._schema.fields[0].dataType),)


@dataclass
class _Written(WriterCommitMessage):
    """What a task has written."""

    path: str
    rows: int


class _Writer(DataSourceWriter):
    def __init__(self, path: str, format: str, schema: StructType, overwrite: bool) -> None:
        self._folder = path.removeprefix("file://").removeprefix("file:")
        self._format, self._overwrite = format, overwrite
        self._marc = format in _MARC
        if self._marc and {"leader", "fields"} - set(schema.names):
            raise ValueError(
                f"found the columns {', '.join(schema.names)}, expected leader and fields for {format}"
            )
        if os.path.isdir(self._folder) and os.listdir(self._folder) and not overwrite:
            raise FileExistsError(f"found files in {self._folder}; pass mode('overwrite')")

    def write(self, iterator: Iterator[Row]) -> WriterCommitMessage:
        """Writes the rows of a task to a separate file."""
        os.makedirs(self._folder, exist_ok=True)
        suffix = _SUFFIXES.get(self._format, self._format)
        path = os.path.join(self._folder, f".part-{uuid.uuid4().hex}.{suffix}")
        rows = 0
        with regauge.open_writer(path, self._format) as writer:
            for row in iterator:
                writer.write(_marc_record(row) if self._marc else _plain(row))
                rows += 1
        return _Written(path, rows)

    def commit(self, messages: list[Any]) -> None:
        """Called when all tasks have written: renames their files."""
        os.makedirs(self._folder, exist_ok=True)
        if self._overwrite:
            for entry in os.scandir(self._folder):
                if entry.is_file() and entry.name.startswith("part-"):
                    os.remove(entry.path)
        for number, message in enumerate(one for one in messages if one is not None):
            folder, name = os.path.split(message.path)
            os.rename(message.path, os.path.join(folder, f"part-{number:05}-{name[6:]}"))
        with open(os.path.join(self._folder, "_SUCCESS"), "wb"):
            pass

    def abort(self, messages: list[Any]) -> None:
        """Called when a task has failed: removes what others have written."""
        for message in messages:
            if message is not None and os.path.exists(message.path):
                os.remove(message.path)
