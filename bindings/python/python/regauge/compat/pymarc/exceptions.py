"""pymarc's exceptions."""

from ...marc._exceptions import (
    BadLeaderValue,
    BadSubfieldCodeWarning,
    BaseAddressInvalid,
    BaseAddressNotFound,
    EndOfRecordNotFound,
    FatalReaderError,
    FieldNotFound,
    MissingLinkedFields,
    NoActiveFile,
    NoFieldsFound,
    PymarcException,
    RecordDirectoryInvalid,
    RecordLeaderInvalid,
    RecordLengthInvalid,
    TruncatedRecord,
    WriteNeedsRecord,
)

__all__ = [
    "BadLeaderValue", "BadSubfieldCodeWarning", "BaseAddressInvalid", "BaseAddressNotFound",
    "EndOfRecordNotFound", "FatalReaderError", "FieldNotFound", "MissingLinkedFields",
    "NoActiveFile", "NoFieldsFound", "PymarcException", "RecordDirectoryInvalid",
    "RecordLeaderInvalid", "RecordLengthInvalid", "TruncatedRecord", "WriteNeedsRecord",
]
