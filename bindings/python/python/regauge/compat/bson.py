"""The interface of pymongo's bson over regauge: `from regauge.compat import bson`.

encode, decode, decode_all, decode_iter and decode_file_iter read and write plain documents with regauge:
dicts, lists, scalars and the types of BSON, which are bson's own classes. Everything else (DBRef, SON,
check_keys, other codec options, errors) is bson's; pymongo has to be installed.
"""

from __future__ import annotations

import datetime
import re
import struct
import sys
import uuid
from collections.abc import Callable, Iterator
from typing import Any

from .. import _regauge
from ._peer import Other, imported, other, submodules

_bson: Any = imported("bson", "pymongo")

_Binary, _Code, _ObjectId = _bson.Binary, _bson.Code, _bson.ObjectId
_DEFAULT = _bson.DEFAULT_CODEC_OPTIONS
_EPOCH = datetime.datetime(1970, 1, 1)
_UUIDS = _bson.ALL_UUID_SUBTYPES
# Numbers, as in the classes that bson returns, not members of re.RegexFlag.
_FLAGS = {"i": 2, "l": 4, "m": 8, "s": 16, "u": 32, "x": 64}


# --- Types of BSON that are written.


def _lower_datetime(value: datetime.datetime) -> tuple[Any, ...]:
    offset = value.utcoffset()
    if offset is not None:
        value -= offset
    past = value.replace(tzinfo=None) - _EPOCH
    return "timestamp", past.days * 86_400 + past.seconds, past.microseconds // 1000 * 1_000_000


def _lower_milliseconds(value: Any) -> tuple[Any, ...]:
    seconds, rest = divmod(int(value), 1000)
    return "timestamp", seconds, rest * 1_000_000


def _lower_code(value: Any) -> tuple[Any, ...]:
    if value.scope is None:
        return "code", str(value)
    if type(value.scope) is not dict:
        raise Other
    return "typed", "bson", "scope", str(value), value.scope


def _lower_regex(value: Any) -> tuple[Any, ...]:
    if type(value.pattern) is not str:
        raise Other
    return "regex", value.pattern, "".join(letter for letter, flag in _FLAGS.items() if value.flags & flag)


# By exact type: bson decides about subclasses, and about UUIDs.
_LOWER: dict[type, Callable[[Any], tuple[Any, ...]]] = {
    datetime.datetime: _lower_datetime,
    _bson.DatetimeMS: _lower_milliseconds,
    _ObjectId: lambda value: ("objectid", value.binary),
    _bson.Int64: lambda value: ("int64", int(value)),
    _bson.Decimal128: lambda value: ("decimal128", value.bid),
    _Binary: lambda value: ("binary", bytes(value), value.subtype),
    _bson.Timestamp: lambda value: ("bson_timestamp", value.time, value.inc),
    _Code: _lower_code,
    _bson.Regex: _lower_regex,
    re.Pattern: _lower_regex,
    _bson.MinKey: lambda value: ("min_key",),
    _bson.MaxKey: lambda value: ("max_key",),
}


# --- Types of BSON that are read.


class _Conversions:
    """What becomes of values that are not plain data; bson decides what is absent here."""

    key = staticmethod(other)
    BrokenText = staticmethod(other)
    int64 = _bson.Int64
    BsonTimestamp = _bson.Timestamp
    Code = _Code
    DbPointer = _bson.DBRef
    Decimal128 = staticmethod(_bson.Decimal128.from_bid)
    ObjectId = _ObjectId
    Symbol = str
    MIN_KEY = property(lambda self: _bson.MinKey())
    MAX_KEY = property(lambda self: _bson.MaxKey())
    UNDEFINED = None

    @staticmethod
    def lower(value: Any, format: str) -> tuple[Any, ...]:
        """Describes a value; leaves it to bson if its type is not one of BSON's."""
        return _LOWER.get(type(value), other)(value)

    @staticmethod
    def timestamp(seconds: int, nanoseconds: int) -> datetime.datetime:
        """Returns a datetime without an offset, in UTC."""
        return _EPOCH + datetime.timedelta(seconds=seconds, microseconds=nanoseconds // 1000)

    @staticmethod
    def Binary(data: bytes, subtype: int) -> Any:  # noqa: N802
        """Returns binary data. Versions of bson differ on UUIDs that have not 16 bytes."""
        return other() if subtype in _UUIDS and len(data) != 16 else _Binary(data, subtype)

    @staticmethod
    def Regex(pattern: str, options: str) -> Any:  # noqa: N802
        """Returns a regular expression; bson ignores unknown options."""
        return _bson.Regex(pattern, sum(_FLAGS.get(letter, 0) for letter in set(options)))

    @staticmethod
    def uuid(data: bytes) -> Any:
        """Returns binary data with the subtype of UUIDs."""
        return _Binary(data, _bson.UUID_SUBTYPE)

    @staticmethod
    def typed(origin: str, kind: str, name: str, value: Any, early: Any) -> Any:
        """Returns code with the values of its variables."""
        return _Code(name, value)


class _Aware(_Conversions):
    """For tz_aware=True."""

    @staticmethod
    def timestamp(seconds: int, nanoseconds: int) -> datetime.datetime:
        """Returns a datetime with the offset of UTC."""
        past = datetime.timedelta(seconds=seconds, microseconds=nanoseconds // 1000)
        return _bson.EPOCH_AWARE + past  # type: ignore[no-any-return]


class _Standard(_Conversions):
    """For the standard representation of UUIDs."""

    @staticmethod
    def uuid(data: bytes) -> uuid.UUID:
        """Returns a UUID."""
        return uuid.UUID(bytes=data)


class _AwareStandard(_Aware, _Standard):
    """For both."""


def _dialect(conversions: type[_Conversions]) -> _regauge.Dialect:
    # An embedded document with the key $ref may be a DBRef.
    return _regauge.Dialect("bson", conversions(), "surrogates ints quiet no_dbrefs", limits={"depth": 200})


_plain = _dialect(_Conversions)
# By tz_aware and uuid_representation.
_DIALECTS = {
    (False, _bson.UuidRepresentation.UNSPECIFIED): _plain,
    (True, _bson.UuidRepresentation.UNSPECIFIED): _dialect(_Aware),
    (False, _bson.STANDARD): _dialect(_Standard),
    (True, _bson.STANDARD): _dialect(_AwareStandard),
}
_loads = _plain.loads
_dumps = _plain.dumps
_size = struct.Struct("<i").unpack_from


def _others(options: Any) -> list[Any]:
    """Returns the codec options besides those that choose a dialect."""
    taken = ("tz_aware", "uuid_representation")
    return [value for name, value in zip(options._fields, options) if name not in taken]


def _reader(options: Any) -> _regauge.Dialect | None:
    """Returns what reads with these codec options; None if bson has to."""
    if options is None or options is _DEFAULT:
        return _plain
    if not isinstance(options, _bson.CodecOptions) or _others(options) != _others(_DEFAULT):
        return None
    return _DIALECTS.get((options.tz_aware, options.uuid_representation))


def _writes(options: Any) -> bool:
    """Returns whether codec options have no encoders of their own."""
    return isinstance(options, _bson.CodecOptions) and options.type_registry == _DEFAULT.type_registry


# --- The calls.


def encode(document: Any, check_keys: bool = False, codec_options: Any = _DEFAULT) -> bytes:
    """Returns the bytes of a document; takes the arguments of bson."""
    if type(document) is dict and not check_keys and (codec_options is _DEFAULT or _writes(codec_options)):
        try:
            if "_id" in document and next(iter(document)) != "_id":
                return _dumps({"_id": document["_id"], **document})  # type: ignore[no-any-return]
            return _dumps(document)  # type: ignore[no-any-return]
        except Exception:
            pass
    # Outside of the handler: the exception has no context.
    return _bson.encode(document, check_keys, codec_options)  # type: ignore[no-any-return]


def decode(data: Any, codec_options: Any = None) -> Any:
    """Returns the document in some bytes; takes the codec options of bson."""
    if type(data) is bytes or isinstance(data, (bytes, bytearray)):
        try:
            if codec_options is None:
                return _loads(data)
            if (reader := _reader(codec_options)) is not None:
                return reader.loads(data)
        except Exception:
            pass
    return _bson.decode(data, codec_options)


def decode_all(data: Any, codec_options: Any = None) -> list[Any]:
    """Returns the documents in some bytes; takes the codec options of bson."""
    if isinstance(data, (bytes, bytearray)):
        try:
            if (reader := _reader(codec_options)) is not None:
                documents, end, raised = reader.first(data, sys.maxsize)
                if raised is None and end == len(data):
                    return documents
        except Exception:
            pass
    return _bson.decode_all(data, codec_options)  # type: ignore[no-any-return]


def decode_iter(data: Any, codec_options: Any = None) -> Iterator[Any]:
    """Yields the documents in some bytes; takes the codec options of bson."""
    if _reader(codec_options) is None:
        yield from _bson.decode_iter(data, codec_options)
        return
    at, end = 0, len(data) - 1
    while at < end:
        start, at = at, at + _size(data, at)[0]
        yield decode(data[start:at], codec_options)


def decode_file_iter(file_obj: Any, codec_options: Any = None) -> Iterator[Any]:
    """Yields the documents in a file, which is read in pieces; takes the codec options of bson."""
    if _reader(codec_options) is None:
        yield from _bson.decode_file_iter(file_obj, codec_options)
        return
    while head := file_obj.read(4):
        if len(head) != 4:
            raise _bson.InvalidBSON("cut off in middle of objsize")
        yield decode(head + file_obj.read(max(0, _size(head)[0] - 4)), codec_options)


class BSON(_bson.BSON):  # type: ignore[misc]
    """The bytes of a document, as in bson."""

    @classmethod
    def encode(cls, document: Any, check_keys: bool = False, codec_options: Any = _DEFAULT) -> BSON:
        """Returns the bytes of a document."""
        return cls(encode(document, check_keys, codec_options))

    def decode(self, codec_options: Any = _DEFAULT) -> Any:
        """Returns the document."""
        return decode(self, codec_options)


def __getattr__(name: str) -> Any:
    return getattr(_bson, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_bson)})


__all__ = _bson.__all__


def _submodules() -> dict[str, Any]:
    """Returns bson's modules, for install()."""
    return submodules(_bson)
