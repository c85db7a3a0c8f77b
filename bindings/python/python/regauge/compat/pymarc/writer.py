"""pymarc's writers."""

from __future__ import annotations

from typing import Any

from ..._files import write_all
from ...marc._record import Record
from ...marc._writers import JSONWriter, MARCWriter, TextWriter, Writer
from ...marc._xml import record_to_xml

__all__ = ["JSONWriter", "MARCWriter", "TextWriter", "Writer", "XMLWriter"]


class XMLWriter(Writer):
    """Writes MARCXML byte for byte as pymarc does. It must be closed."""

    def __init__(self, file_handle: Any) -> None:
        super().__init__(file_handle)
        if file_handle:
            write_all(
                file_handle,
                b'<?xml version="1.0" encoding="UTF-8"?>'
                b'<collection xmlns="http://www.loc.gov/MARC21/slim">',
            )

    def write(self, record: Record) -> None:
        """Writes a record."""
        super().write(record)
        data = record_to_xml(record, encoding="utf-8")
        with self._lock:
            write_all(self._file(), data)

    def close(self, close_fh: bool = True) -> None:
        """Ends the collection, and closes the file unless close_fh is False."""
        if self.file_handle:
            write_all(self.file_handle, b"</collection>")
        super().close(close_fh)
