"""Writers of records."""

from __future__ import annotations

import threading
from typing import Any

from .. import _regauge
from .._files import write_all
from .. import json as _json
from ._exceptions import NoActiveFile, WriteNeedsRecord
from ._field import Field
from ._record import Record
from ._xml import record_to_xml

_write_xml = _regauge._marc.write_xml


class Writer:
    """The base class of all writers: write(record), then close(). Threads may share one."""

    def __init__(self, file_handle: Any) -> None:
        self.file_handle: Any = file_handle
        # A record is written in one piece, and separators exactly once.
        self._lock = threading.RLock()

    def write(self, record: Record) -> None:
        """Writes a record."""
        if not isinstance(record, Record):
            raise WriteNeedsRecord
        self._file()

    def _file(self) -> Any:
        file = self.file_handle
        if file is None:
            raise NoActiveFile
        return file

    def close(self, close_fh: bool = True) -> None:
        """Ends the output, and closes the file unless close_fh is False."""
        with self._lock:
            if close_fh and self.file_handle:
                self.file_handle.close()
            self.file_handle = None

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


class MARCWriter(Writer):
    """Writes ISO 2709 to a file opened in binary mode."""

    def write(self, record: Record) -> None:
        """Writes a record: if unchanged, with the bytes that it was read from."""
        if not isinstance(record, Record):
            raise WriteNeedsRecord
        file = self.file_handle
        if file is None:
            raise NoActiveFile
        data = record.as_marc()
        with self._lock:
            write_all(file, data)


class JSONWriter(Writer):
    """Writes an array of MARC-in-JSON to a file opened in text mode. It must be closed."""

    def __init__(self, file_handle: Any) -> None:
        super().__init__(file_handle)
        self.write_count = 0
        if file_handle:
            file_handle.write("[")

    def write(self, record: Record) -> None:
        """Writes a record."""
        super().write(record)
        text = _json.dumps(record.as_dict(), text=True, ascii=True)
        with self._lock:
            self._file().write("," + text if self.write_count else text)
            self.write_count += 1

    def close(self, close_fh: bool = True) -> None:
        """Ends the array, and closes the file unless close_fh is False."""
        with self._lock:
            if self.file_handle:
                self.file_handle.write("]")
            super().close(close_fh)


class TextWriter(Writer):
    """Writes MARCMaker to a file opened in text mode, with a blank line between records."""

    def __init__(self, file_handle: Any) -> None:
        super().__init__(file_handle)
        self.write_count = 0

    def write(self, record: Record) -> None:
        """Writes a record."""
        super().write(record)
        text = str(record)
        with self._lock:
            self._file().write("\n" + text if self.write_count else text)
            self.write_count += 1


class XMLWriter(Writer):
    """Writes MARCXML to a file opened in binary mode. It must be closed."""

    def __init__(self, file_handle: Any) -> None:
        super().__init__(file_handle)
        self.write_count = 0

    def write(self, record: Record) -> None:
        """Writes a record."""
        if not isinstance(record, Record):
            raise WriteNeedsRecord
        leader = str(record.leader)
        with self._lock:
            file = self.file_handle
            if file is None:
                raise NoActiveFile
            first = self.write_count == 0
            made = _write_xml(leader, record.fields, Field, first)
            if made is None:
                # Fields of other classes, bytes instead of text.
                made = (_HEAD if first else b"") + record_to_xml(record, encoding="utf-8")
            write_all(file, made)
            self.write_count += 1

    def close(self, close_fh: bool = True) -> None:
        """Ends the collection, and closes the file unless close_fh is False."""
        with self._lock:
            if self.file_handle:
                if not self.write_count:
                    write_all(self.file_handle, _HEAD)
                write_all(self.file_handle, b"</collection>\n")
            super().close(close_fh)


_HEAD = (
    b'<?xml version="1.0" encoding="UTF-8"?>'
    b'<collection xmlns="http://www.loc.gov/MARC21/slim">'
)
