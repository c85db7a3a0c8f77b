"""A data source for PySpark 4: `spark.read.format("regauge")`, and the same for writing.

    from regauge.spark import RegaugeDataSource

    spark.dataSource.register(RegaugeDataSource)
    frame = spark.read.format("regauge").option("format", "marc").load("records/*.mrc")
    frame.write.format("regauge").option("format", "ndjson").mode("append").save("out")

Spark's default mode for writing is an error for a data source in Python; `mode("append")` adds files to those in
the folder, and `mode("overwrite")` removes the files of earlier jobs (`part-…`) when all tasks have written.

Options for both: format (a name in regauge.FORMATS; by default taken from the name of the file that is
read), and on_loss. For reading: split_bytes (bytes per task, 32 MiB), and sample, on_loss and bad as in
`regauge.to_arrow`, which reads the files; for writing, on_loss as in `regauge.open_writer`.

Streams of NDJSON, MARC 21 and BSON are split across tasks at record boundaries, other files are one
task each; compressed files are refused. MARC records are rows of leader and fields; for other formats
the schema is given, or inferred from the first documents. A value that does not fit the schema is an
error, and so is a field that it lacks; `option("on_loss", …)` says otherwise.
"""

from __future__ import annotations

import glob
import io
import itertools
import json
import os
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped, unused-ignore]
from pyspark.sql.datasource import (
    DataSource,
    DataSourceArrowWriter,
    DataSourceReader,
    DataSourceWriter,
    InputPartition,
    WriterCommitMessage,
)
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

import regauge

_MARC = ("marc", "marcxml", "marc-json", "mrk", "alephseq")
_SPLIT = ("ndjson", "marc", "bson")
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".lz4")
_SUFFIXES = {"marc": "mrc", "marcxml": "xml", "marc-json": "marc.jsonl", "alephseq": "seq"}

# Types that have one counterpart in Arrow.
_TYPES: dict[type[DataType], pa.DataType] = {
    BooleanType: pa.bool_(),
    ByteType: pa.int8(),
    ShortType: pa.int16(),
    IntegerType: pa.int32(),
    LongType: pa.int64(),
    FloatType: pa.float32(),
    DoubleType: pa.float64(),
    StringType: pa.string(),
    BinaryType: pa.binary(),
    DateType: pa.date32(),
    TimestampType: pa.timestamp("us", "UTC"),
    TimestampNTZType: pa.timestamp("us"),
}


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
    # A job that had no rows to write has left nothing but this.
    if not files and not any(os.path.exists(os.path.join(one, "_SUCCESS")) for one in found):
        raise FileNotFoundError(f"found no file at {pattern}")
    if compressed := [one for one in files if one.endswith(_COMPRESSED)]:
        raise ValueError(f"found {compressed[0]}, expected no compressed files; decompress it first")
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
    if size == 0:
        return []
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


def _to_spark(of: pa.DataType, column: str) -> DataType:
    """Returns the type of a column whose type was inferred."""
    if pa.types.is_struct(of):
        return StructType(
            [StructField(one.name, _to_spark(one.type, f"{column}.{one.name}"), one.nullable) for one in of]
        )
    if pa.types.is_list(of):
        return ArrayType(_to_spark(of.value_type, f"{column}[]"), of.value_field.nullable)
    if pa.types.is_decimal(of):
        return DecimalType(of.precision, of.scale)
    if pa.types.is_timestamp(of):
        return TimestampType()
    # Of unsigned integers, Spark has none; and nothing is known of what was always null.
    other: dict[pa.DataType, DataType] = {pa.uint64(): DecimalType(20, 0), pa.null(): StringType()}
    known = {**other, **{arrow: spark() for spark, arrow in _TYPES.items()}}
    if of not in known:
        raise ValueError(
            f"found the column {column} of the type {of}, which Spark lacks; pass .schema(…) with text for it, and "
            'option("on_loss", "wrap")'
        )
    return known[of]


def _to_arrow(of: DataType) -> pa.DataType:
    """Returns the type in which a column of this type is read."""
    if isinstance(of, StructType):
        return pa.struct([pa.field(one.name, _to_arrow(one.dataType), one.nullable) for one in of])
    if isinstance(of, ArrayType):
        return pa.list_(pa.field("item", _to_arrow(of.elementType), of.containsNull))
    if isinstance(of, MapType):
        value = pa.field("value", _to_arrow(of.valueType), of.valueContainsNull)
        return pa.map_(_to_arrow(of.keyType), value)
    if isinstance(of, DecimalType):
        return pa.decimal128(of.precision, of.scale)
    if type(of) not in _TYPES:
        known: list[type[DataType]] = [*_TYPES, DecimalType, ArrayType, MapType, StructType]
        names = ", ".join(one.typeName() for one in known)
        raise ValueError(f"found a column of the type {of.simpleString()}, expected one of {names}")
    return _TYPES[type(of)]


def _marc_record(row: Any) -> dict[str, Any]:
    """Returns the record of a row, in the shape of MARC-in-JSON."""
    fields: list[dict[str, Any]] = []
    for field in row["fields"]:
        if field["subfields"] is None:
            fields.append({field["tag"]: field["data"]})
        else:
            subfields = [{one["code"]: one["value"]} for one in field["subfields"]]
            content = {"ind1": field["ind1"], "ind2": field["ind2"], "subfields": subfields}
            fields.append({field["tag"]: content})
    return {"leader": row["leader"], "fields": fields}


class RegaugeDataSource(DataSource):
    """The data source "regauge"."""

    @classmethod
    def name(cls) -> str:
        """Returns the name for format()."""
        return "regauge"

    def _path(self) -> str:
        if "path" not in self.options:
            raise ValueError("found no path; pass one to load() or save()")
        return self.options["path"]

    def _files(self) -> list[str]:
        # Spark passes several paths as a list in JSON.
        paths = json.loads(self.options["paths"]) if "paths" in self.options else [self._path()]
        return [one for path in paths for one in _paths(path)]

    def _format(self, paths: list[str]) -> str:
        found = self.options.get("format") or (regauge._regauge.detect_path(paths[0]) if paths else None)
        if found is None:
            name = paths[0] if paths else self._path()
            raise ValueError(f"found no format in the name of {name}; pass option('format', …)")
        return found

    def schema(self) -> StructType:
        """Returns the schema of MARC, or that of the first documents; without documents, there are no
        columns."""
        paths = self._files()
        format = self._format(paths)
        source: str | bytes = next((one for one in paths if os.path.getsize(one)), b"")
        if source == b"" and format not in _MARC:
            return StructType([])
        found = pa.schema(_stream(source, format, self.options, sample=_number(self.options, "sample", 1000)))
        return StructType([StructField(one.name, _to_spark(one.type, one.name), one.nullable) for one in found])

    def reader(self, schema: StructType) -> DataSourceReader:
        """Returns a reader."""
        paths = self._files()
        return _Reader(paths, self._format(paths), schema, dict(self.options))

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        """Returns a writer."""
        format = self.options.get("format")
        if format is None:
            raise ValueError("found no format; pass option('format', …)")
        return _Writer(self._path(), format, schema, overwrite, self.options.get("on_loss"))


def _stream(
    source: str | bytes, format: str, options: Any, schema: pa.Schema | None = None, sample: int = 1000
) -> regauge._regauge.ArrowStream:
    """Returns what `regauge.to_arrow` does, with errors in the words of Spark."""
    on_loss = options.get("on_loss", "refuse")
    others = {"bad": options["bad"]} if "bad" in options else None
    return regauge._regauge.to_arrow(source, format, 65_536, schema, sample, on_loss, others, is_spark=True)


def _number(options: Any, name: str, default: int) -> int:
    """Returns the value of an option that is a number."""
    given = str(options.get(name, default))
    if not (given.isascii() and given.isdigit()) or int(given) == 0:
        raise ValueError(f"found {given} for the option {name}, expected an integer from 1")
    return int(given)


class _Reader(DataSourceReader):
    def __init__(self, paths: list[str], format: str, schema: StructType, options: dict[str, str]) -> None:
        self._paths, self._format, self._schema = paths, format, _to_arrow(schema)
        self._options = options
        self._split_bytes = _number(options, "split_bytes", 32 << 20)

    def partitions(self) -> list[InputPartition]:
        """Returns the parts of all files."""
        parts: list[InputPartition] = []
        for path in self._paths:
            parts += _split(path, self._format, self._split_bytes)
        return parts

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yields the rows of a part."""
        # Where there is nothing to read, Spark makes a part of its own.
        if not isinstance(partition, Part):
            return
        path, start, end = partition.path, partition.start, partition.end
        source: str | bytes = path
        if (start, end) != (0, os.path.getsize(path)):
            with open(path, "rb") as file:
                file.seek(start)
                source = file.read(end - start)
        schema = pa.schema(list(self._schema))
        stream = _stream(source, self._format, self._options, schema)
        try:
            yield from pa.RecordBatchReader.from_stream(stream)
        except (pa.ArrowException, OSError) as error:
            # Records are counted from the start of the part.
            raise ValueError(f"{path}, from byte {start}: {error}") from error


@dataclass
class _Written(WriterCommitMessage):
    """What a task has written: no file if it had no rows."""

    path: str | None
    rows: int


class _Writer(DataSourceArrowWriter):
    def __init__(
        self, path: str, format: str, schema: StructType, overwrite: bool, on_loss: str | None
    ) -> None:
        self._folder = path.removeprefix("file://").removeprefix("file:")
        self._format, self._overwrite = format, overwrite
        self._marc = format in _MARC
        self._keywords: dict[str, Any] = {"on_loss": on_loss} if on_loss else {}
        if self._marc and {"leader", "fields"} - set(schema.names):
            raise ValueError(
                f"found the columns {', '.join(schema.names)}, expected leader and fields for {format}"
            )

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """Writes the rows of a task to a separate file."""
        rows = (row for batch in iterator for row in batch.to_pylist(maps_as_pydicts="strict"))
        first = next(rows, None)
        if first is None:
            return _Written(None, 0)
        os.makedirs(self._folder, exist_ok=True)
        suffix = _SUFFIXES.get(self._format, self._format)
        path = os.path.join(self._folder, f".part-{uuid.uuid4().hex}.{suffix}")
        count = 0
        try:
            with regauge.open_writer(path, self._format, **self._keywords) as writer:
                for row in itertools.chain([first], rows):
                    writer.write(_marc_record(row) if self._marc else row)
                    count += 1
        except BaseException:
            if os.path.exists(path):
                os.remove(path)
            raise
        return _Written(path, count)

    def commit(self, messages: list[Any]) -> None:
        """Called when all tasks have written: renames their files, whose numbers follow those of the files
        that are kept."""
        os.makedirs(self._folder, exist_ok=True)
        start = 0
        for entry in list(os.scandir(self._folder)):
            if entry.is_file() and (earlier := re.match(r"part-(\d+)-", entry.name)):
                if self._overwrite:
                    os.remove(entry.path)
                else:
                    start = max(start, int(earlier[1]) + 1)
        paths = [one.path for one in messages if one is not None and one.path is not None]
        for number, path in enumerate(paths, start):
            folder, name = os.path.split(path)
            os.rename(path, os.path.join(folder, f"part-{number:05}-{name[6:]}"))
        with open(os.path.join(self._folder, "_SUCCESS"), "wb"):
            pass

    def abort(self, messages: list[Any]) -> None:
        """Called when a task has failed: removes what others have written."""
        for message in messages:
            if message is not None and message.path is not None and os.path.exists(message.path):
                os.remove(message.path)
