from typing import Any

from typing_extensions import Unpack

from .._options import MarcDumping, MarcEvents, MarcLoading
from .._regauge import Documents, Events
from .._regauge import Writer as _Writer
from .._types import Data, Source, Target
from . import alephseq, json, mrk, xml
from ._exceptions import (
    BadLeaderValue,
    BadSubfieldCodeWarning,
    BaseAddressInvalid,
    BaseAddressNotFound,
    EndOfRecordNotFound,
    FatalReaderError,
    FieldNotFound,
    MarcError,
    MissingLinkedFields,
    NoActiveFile,
    NoFieldsFound,
    RecordDirectoryInvalid,
    RecordLeaderInvalid,
    RecordLengthInvalid,
    TruncatedRecord,
    WriteNeedsRecord,
)
from ._field import Field, Indicators, RawField, Subfield, marc8_to_unicode
from ._leader import Leader
from ._readers import JSONReader, MARCMakerReader, MARCReader, Reader, XMLReader, map_records
from ._record import Record
from ._writers import JSONWriter, MARCWriter, TextWriter, XMLWriter
from ._writers import Writer as RecordWriter

__all__ = [
    "BadLeaderValue", "BadSubfieldCodeWarning", "BaseAddressInvalid", "BaseAddressNotFound",
    "EndOfRecordNotFound", "FatalReaderError", "Field", "FieldNotFound", "Indicators", "JSONReader",
    "JSONWriter", "Leader", "MARCMakerReader", "MARCReader", "MARCWriter", "MarcError",
    "MissingLinkedFields", "NoActiveFile", "NoFieldsFound", "RawField", "Reader", "Record",
    "RecordDirectoryInvalid", "RecordLeaderInvalid", "RecordLengthInvalid", "RecordWriter",
    "Subfield", "TextWriter", "TruncatedRecord", "WriteNeedsRecord", "Writer", "XMLReader",
    "XMLWriter", "alephseq", "dump", "dumps", "events", "iter_load", "json", "load", "loads", "map_records",
    "marc8_to_unicode", "mrk", "parse_events", "xml",
]

def loads(data: Data, /, **options: Unpack[MarcLoading]) -> Any: ...
def dumps(value: Any, /, **options: Unpack[MarcDumping]) -> bytes: ...
def dump(value: Any, target: Target, /, **options: Unpack[MarcDumping]) -> None: ...
def Writer(target: Target, /, **options: Unpack[MarcDumping]) -> _Writer: ...
def load(source: Source, /, **options: Unpack[MarcLoading]) -> Any: ...
def iter_load(source: Source | Data, /, **options: Unpack[MarcLoading]) -> Documents: ...
def events(source: Source | Data, /, **options: Unpack[MarcEvents]) -> Events: ...
def parse_events(
    source: Source | Data, handler: object, /, **options: Unpack[MarcEvents]
) -> None: ...
