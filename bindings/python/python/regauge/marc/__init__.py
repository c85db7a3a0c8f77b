"""MARC 21, MARCXML, MARC-in-JSON, MARCMaker and Aleph sequential: records with methods, and records as dicts.

>>> from regauge.marc import Field, MARCReader, Record, Subfield
>>> record = Record(fields=[Field('245', ['0', '0'], [Subfield('a', 'A title')])])
>>> [one.title for one in MARCReader(record.as_marc())]
['A title']

Records are read and edited as in pymarc. A record that was read keeps its bytes: its fields are
created on first access, and an unchanged record is written as it was read. loads, dumps, iter_load
and Writer use dicts in the shape of MARC-in-JSON; the modules regauge.marc.xml,
regauge.marc.json, regauge.marc.mrk and regauge.marc.alephseq do the same for the other serialisations.
"""

from __future__ import annotations

from .._format import functions
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

loads, dumps, load, dump, iter_load, Writer, events, parse_events = functions("marc")
