"""The options of each format's functions, for type checkers: not imported at run time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypedDict, Union

from ._types import Charset, Delimiter, Limits, OnBad, OnLoss, PairsHook, Types


class Reading(TypedDict, total=False):
    """Options for reading any format."""

    limits: Union[Limits, None]
    unwrap: bool
    duplicate_keys: Union[Literal["last", "refuse"], None]


class Loading(Reading, total=False):
    """Options for loading any format."""

    object_hook: Union[Callable[[dict[Any, Any]], Any], None]


class PairsLoading(Loading, total=False):
    """The same for formats with keys of any type."""

    object_pairs_hook: Union[PairsHook, None]


class Dumping(TypedDict, total=False):
    """Options for dumping any format."""

    limits: Union[Limits, None]
    on_loss: Union[OnLoss, None]
    objects: Union[Literal["refuse", "wrap", "data"], None]
    default: Union[Callable[[Any], Any], None]
    sort_keys: bool


class BadRecords(TypedDict, total=False):
    """Options for streams of records."""

    bad: Union[Literal["stop", "skip"], None]
    on_bad: Union[OnBad, None]


class JsonEvents(Reading, total=False):
    """JSON, read as events."""

    numbers: Union[Literal["double", "exact"], None]
    comments: bool
    trailing_commas: bool
    allow_nan: bool


class JsonLoading(JsonEvents, PairsLoading, total=False):
    """JSON."""


class NdjsonDumping(Dumping, total=False):
    """NDJSON."""

    ascii: bool
    float_style: Union[Literal["shortest", "python", "ruby"], None]


class JsonDumping(NdjsonDumping, total=False):
    """JSON."""

    indent: Union[int, None]


class NdjsonEvents(JsonEvents, BadRecords, total=False):
    """NDJSON, read as events."""


class NdjsonLoading(JsonLoading, BadRecords, total=False):
    """NDJSON."""


class YamlEvents(Reading, total=False):
    """YAML, read as events."""

    numbers: Union[Literal["double", "exact"], None]
    tag_hook: Union[Callable[[str, Any], Any], None]
    schema: Union[Literal["core", "json", "failsafe", "1.1", "psych"], None]
    types: Union[Types, None]


class YamlLoading(YamlEvents, PairsLoading, total=False):
    """YAML."""


class YamlDumping(Dumping, total=False):
    """YAML."""

    indent: Union[int, None]
    indent_sequences: bool
    document_start: bool


class MsgpackEvents(Reading, total=False):
    """MessagePack, read as events."""

    ext_hook: Union[Callable[[int, bytes], Any], None]


class MsgpackLoading(MsgpackEvents, PairsLoading, total=False):
    """MessagePack."""


class BsonDumping(Dumping, total=False):
    """BSON."""

    document_bytes: Union[int, None]


class CborEvents(Reading, total=False):
    """CBOR, read as events."""

    tag_hook: Union[Callable[[int, Any], Any], None]


class CborLoading(CborEvents, PairsLoading, total=False):
    """CBOR."""


class CborDumping(Dumping, total=False):
    """CBOR."""

    deterministic: bool
    indefinite: bool


class MarshalEvents(Reading, total=False):
    """Ruby's Marshal, read as events."""

    types: Union[Types, None]
    binary: Union[Literal["bytes", "text"], None]
    exact: bool


class MarshalLoading(MarshalEvents, PairsLoading, total=False):
    """Ruby's Marshal."""


class PickleEvents(Reading, total=False):
    """Pickle, read as events."""

    types: Union[Types, None]
    strings: Union[Literal["ascii", "utf8", "latin1", "bytes"], None]


class PickleLoading(PickleEvents, PairsLoading, total=False):
    """Pickle."""


class PickleDumping(Dumping, total=False):
    """Pickle."""

    protocol: Union[int, None]


class TsvEvents(Reading, BadRecords, total=False):
    """TSV, read as events."""

    header: Union[Literal["yes", "no"], None]
    types: Union[Literal["text", "infer"], None]


class TsvLoading(TsvEvents, PairsLoading, total=False):
    """TSV."""


class TsvDumping(Dumping, total=False):
    """TSV."""

    header: Union[Literal["yes", "no"], None]
    types: Union[Literal["text", "infer"], None]
    nested: Union[Literal["refuse", "flatten"], None]


class CsvEvents(TsvEvents, total=False):
    """CSV, read as events."""

    delimiter: Union[Delimiter, None]


class CsvLoading(CsvEvents, PairsLoading, total=False):
    """CSV."""


class CsvDumping(TsvDumping, total=False):
    """CSV."""

    delimiter: Union[Delimiter, None]


class RecordEvents(Reading, BadRecords, total=False):
    """MARCXML, MARC-in-JSON and Aleph sequential, read as events."""


class RecordLoading(Loading, BadRecords, total=False):
    """MARCXML, MARC-in-JSON and Aleph sequential."""


class MrkEvents(RecordEvents, total=False):
    """MARCMaker, read as events."""

    charset: Union[Charset, None]
    references: bool


class MrkLoading(MrkEvents, RecordLoading, total=False):
    """MARCMaker."""


class LineDumping(Dumping, total=False):
    """MARCMaker and Aleph sequential."""

    write_charset: Union[Charset, None]


class MarcEvents(RecordEvents, total=False):
    """MARC 21 in ISO 2709, read as events."""

    charset: Union[Charset, None]
    repair: bool
    references: bool


class MarcLoading(MarcEvents, RecordLoading, total=False):
    """MARC 21 in ISO 2709."""


class MarcDumping(Dumping, total=False):
    """MARC 21 in ISO 2709."""

    write_charset: Union[Charset, None]
    oversize: bool


class MarcXmlDumping(Dumping, total=False):
    """MARCXML."""

    compact: bool
