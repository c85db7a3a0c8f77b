"""pymarc's readers."""

from __future__ import annotations

from typing import Any

from ...marc import _readers
from .record import Record

__all__ = ["JSONReader", "MARCMakerReader", "MARCReader", "Reader", "map_records"]


_readers.PLAIN.add(Record)


class Reader(_readers.Reader):
    """The base class of all readers."""

    record_class = Record


class MARCReader(Reader, _readers.MARCReader):
    """A reader of MARC 21 records."""


class JSONReader(Reader, _readers.JSONReader):
    """A reader of MARC-in-JSON records."""


class MARCMakerReader(Reader, _readers.MARCMakerReader):
    """A reader of MARCMaker records."""


def map_records(f: Any, *files: Any) -> None:
    """Calls a function with each record of these files."""
    for file in files:
        for record in MARCReader(file):
            f(record)
