"""Errors in records, with names and texts familiar from pymarc."""

from __future__ import annotations

from typing import Any


class MarcError(Exception):
    """The base class of exceptions about records."""


PymarcException = MarcError


class FatalReaderError(MarcError):
    """The reader cannot find the beginning of the next record."""


def _error(name: str, text: str, base: type[Exception] = MarcError) -> Any:
    """Creates an exception class with a fixed text."""
    body = {"__doc__": text + ".", "__module__": __name__, "__str__": lambda self: text}
    return type(name, (base,), body)


RecordLengthInvalid = _error(
    "RecordLengthInvalid", "Invalid record length in first 5 bytes of record", FatalReaderError
)
TruncatedRecord = _error(
    "TruncatedRecord",
    "Record length in leader is greater than the length of data",
    FatalReaderError,
)
EndOfRecordNotFound = _error(
    "EndOfRecordNotFound", "Unable to locate end of record marker", FatalReaderError
)
RecordLeaderInvalid = _error("RecordLeaderInvalid", "Unable to extract record leader")
RecordDirectoryInvalid = _error("RecordDirectoryInvalid", "Invalid directory")
NoFieldsFound = _error("NoFieldsFound", "Unable to locate fields in record data")
BaseAddressInvalid = _error("BaseAddressInvalid", "Base address exceeds size of record")
BaseAddressNotFound = _error("BaseAddressNotFound", "Unable to locate base address of record")
WriteNeedsRecord = _error(
    "WriteNeedsRecord", "Write requires a pymarc.Record object as an argument"
)
NoActiveFile = _error("NoActiveFile", "There is no active file to write to in call to write")
FieldNotFound = _error("FieldNotFound", "Record does not contain the specified field")


class BadLeaderValue(MarcError):
    """A value whose length does not match its place in the leader."""


class BadSubfieldCodeWarning(Warning):
    """The code of a subfield is not ASCII."""

    def __init__(self, subf: bytes) -> None:
        super().__init__(subf)
        self.subf = subf

    def __str__(self) -> str:
        return f"The subfield contained a non-ASCII subfield code: {self.subf!r}"


class MissingLinkedFields(MarcError):
    """A field has a subfield 6 without a matching field 880."""

    def __init__(self, field: Any) -> None:
        super().__init__(field)
        self.field = field

    def __str__(self) -> str:
        tag = self.field.tag
        return f"{tag} field includes a subfield 6 but no linked fields could be found."
