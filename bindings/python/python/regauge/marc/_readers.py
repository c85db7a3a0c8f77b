"""Readers of records."""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

from .. import _regauge
from .. import json as _json
from ._exceptions import (
    EndOfRecordNotFound,
    FatalReaderError,
    MarcError,
    RecordLengthInvalid,
    TruncatedRecord,
)
from ._field import Field, Indicators, Subfield
from ._leader import Leader
from ._record import Record

_END = 0x1D
_record: Any = _regauge._marc.record
# Classes whose instances may be filled without calling their constructors.
PLAIN: set[type[Record]] = {Record}


class Reader:
    """The base class of all readers."""

    record_class: type[Record] = Record


class MARCReader(Reader):
    """Reads MARC 21 records in ISO 2709, from a file opened in binary mode or from bytes.

    A broken record is returned as None, with the error in current_exception and its bytes in
    current_chunk; bad_records counts them.

    to_unicode -- False returns the bytes of each value, in RawField fields
    force_utf8 -- reads UTF-8 whatever the leader says
    hide_utf8_warnings -- suppresses warnings about characters that are not MARC-8
    utf8_handling -- "strict", "replace" or "ignore"
    file_encoding -- a charset to use instead of MARC-8, for non-standard records
    permissive -- has no effect, as in pymarc: a broken record never raises

    Threads may share a reader: each record goes to one of them. It is then undefined whose error is
    in current_exception and current_chunk, but bad_records counts them all.
    """

    def __init__(
        self,
        marc_target: Any,
        to_unicode: bool = True,
        force_utf8: bool = False,
        hide_utf8_warnings: bool = False,
        utf8_handling: str = "strict",
        file_encoding: str = "iso8859-1",
        permissive: bool = False,
    ) -> None:
        self.to_unicode = to_unicode
        self.force_utf8 = force_utf8
        self.hide_utf8_warnings = hide_utf8_warnings
        self.utf8_handling = utf8_handling
        self.file_encoding = file_encoding
        self.permissive = permissive
        self.bad_records = 0
        self._lock = threading.RLock()
        # The most common settings; anything else takes the slow path.
        self._plain = to_unicode and file_encoding == "iso8859-1"
        self.current_chunk: bytes | None = None
        self.current_exception: Exception | None = None
        if isinstance(marc_target, (bytes, bytearray, memoryview)):
            marc_target = io.BytesIO(marc_target)
        self.file_handle = marc_target

    def close(self) -> None:
        """Closes the file."""
        self.file_handle.close()

    def __iter__(self) -> MARCReader:
        return self

    def __next__(self) -> Any:
        with self._lock:
            if self.current_exception is not None:
                if isinstance(self.current_exception, FatalReaderError):
                    raise StopIteration
                self.current_exception = None
            read = self.file_handle.read
            head = read(5)
            if not head:
                self.current_chunk = None
                raise StopIteration
            try:
                if len(head) < 5:
                    self.current_chunk = head
                    raise TruncatedRecord
                try:
                    length = int(head)
                except ValueError:
                    self.current_chunk = head
                    raise RecordLengthInvalid from None
                chunk = self.current_chunk = head + read(length - 5)
                if len(chunk) < length:
                    raise TruncatedRecord
                if chunk[-1] != _END:
                    raise EndOfRecordNotFound
                made = self.record_class
                if self._plain and made in PLAIN:
                    record = _record(made, Leader, chunk, self.force_utf8)
                    if record is not None:
                        return record
                return made(
                    chunk,
                    None,
                    self.to_unicode,
                    self.force_utf8,
                    self.hide_utf8_warnings,
                    self.utf8_handling,
                    file_encoding=self.file_encoding,
                )
            except Exception as error:
                self.bad_records += 1
                self.current_exception = error
                return None


def map_records(f: Callable[[Any], Any], *files: Any) -> None:
    """Calls a function with each record of these files."""
    for file in files:
        for record in MARCReader(file):
            f(record)


def _text(target: Any, encoding: str) -> Any:
    """Returns the contents of a file, of a text, or of the file with that name."""
    if hasattr(target, "read"):
        return target.read()
    if isinstance(target, str) and os.path.exists(target):
        with open(target, encoding=encoding) as file:
            return file.read()
    return target


class JSONReader(Reader):
    """Reads MARC-in-JSON records: one, an array of them, or one per line."""

    def __init__(self, marc_target: Any, encoding: str = "utf-8", stream: bool = False) -> None:
        self.encoding = encoding
        self.records = self._records(_text(marc_target, encoding))
        self.iter: Iterator[Any] = iter(self.records)

    @staticmethod
    def _records(data: Any) -> Any:
        try:
            value = _json.loads(data)
        except ValueError as error:
            # Control characters in text, which JSON forbids but records contain.
            import json

            try:
                value = json.loads(data, strict=False)
            except ValueError:
                try:
                    value = _regauge.ndjson.loads(data)
                except ValueError:
                    raise error from None
        return value if isinstance(value, list) else [value]

    def __iter__(self) -> JSONReader:
        self.iter = iter(self.records)
        return self

    def __next__(self) -> Record:
        return self.record_class.from_dict(next(self.iter))


class MARCMakerReader(Reader):
    """Reads MARCMaker records, as written by str(record): a line per field, a blank line in
    between."""

    def __init__(self, target: Any, encoding: str | None = "utf-8") -> None:
        text = _text(target, encoding or "utf-8")
        if hasattr(target, "close"):
            target.close()
        self.records = text.split("\n\n")
        self.iter = iter(self.records)

    def _parse_line(self, line: str) -> Leader | Field:
        if line[0] != "=":
            raise ValueError('Line should start with a "=".')
        if line[4:6] != "  ":
            raise ValueError("Tag should be separated from the rest of the field by two spaces.")
        tag, content = line[1:4], line[6:]
        if tag == "LDR":
            return Leader(content)
        if tag < "010":
            return Field(tag, data=content)
        # The indicators precede the first "$".
        parts = [Subfield(part[:1], part[1:]) for part in content[3:].split("$")]
        return Field(tag, Indicators(content[0], content[1]), parts)

    def __iter__(self) -> MARCMakerReader:
        return self

    def __next__(self) -> Record:
        record = self.record_class()
        for line in next(self.iter).splitlines():
            try:
                field = self._parse_line(line)
            except Exception as error:
                raise MarcError(f'Unable to parse line "{line}"') from error
            if isinstance(field, Leader):
                record.leader = field
            else:
                record.add_field(field)
        return record


class XMLReader(Reader):
    """Reads MARCXML records, from a path, a file opened in binary mode, or bytes.

    permissive -- returns a broken record as None, with the error in current_exception, instead of
        raising DecodeError
    """

    def __init__(self, target: Any, permissive: bool = False) -> None:
        self.permissive = permissive
        self.bad_records = 0
        self._lock = threading.Lock()
        self.current_exception: Exception | None = None
        self._records = _regauge._marc.Records("marcxml", target)

    def __iter__(self) -> XMLReader:
        return self

    def __next__(self) -> Any:
        self.current_exception = None
        try:
            leader, fields = next(self._records)
            return self.record_class._of_later(leader, fields)
        except ValueError as error:
            if not self.permissive:
                raise
            with self._lock:
                self.bad_records += 1
            self.current_exception = error
            return None


def parse_json_to_array(json_file: Any) -> list[Record]:
    """Returns the records of MARC-in-JSON as a list."""
    return list(JSONReader(json_file))
