"""pymarc's readers."""

from __future__ import annotations

from typing import Any

from ...marc import _readers
from .record import Record

__all__ = ["JSONReader", "MARCMakerReader", "MARCReader", "Reader", "map_records"]


_readers.PLAIN.add(Record)


class Reader(_readers.Reader):
    """What all readers are."""

    record_class = Record


class MARCReader(Reader, _readers.MARCReader):
    """The records of MARC 21."""


class JSONReader(Reader, _readers.JSONReader):
    """The records of MARC-in-JSON."""


class MARCMakerReader(Reader, _readers.MARCMakerReader):
    """The records of MARCMaker."""


def map_records(f: Any, *files: Any) -> None:
    """Calls a function with each record of these files."""
    for file in files:
        for record in MARCReader(file):
            f(record)
