"""Encoding: what an object that is not plain data is, in the vocabulary of the native part.

The native part calls `lower` here.
"""

from __future__ import annotations

import collections
import dataclasses
import datetime as _datetime
import decimal as _decimal
import enum
import fractions
import pathlib
import re
import sys
import uuid as _uuid
from collections import OrderedDict
from typing import Any

from ._values import (
    CBOR_SET,
    EPOCH,
    FACTORIES,
    SET_TAG,
    UTC,
    Binary,
    BrokenText,
    BsonTimestamp,
    Code,
    DbPointer,
    Decimal128,
    Duration,
    ExtType,
    Moment,
    Object,
    ObjectId,
    Regex,
    Simple,
    Special,
    Symbol,
    Timestamp,
    duration,
    timestamp,
)

# Formats that have a type for each of these.
_HOLD_DATE = {"yaml", "toml", "cbor", "pickle"}
_HOLD_DATETIME = {"yaml", "toml", "pickle"}
_HOLD_OFFSET = {"yaml", "toml", "cbor", "pickle", "marshal"}
_HOLD_TIMESTAMP = {"yaml", "toml", "cbor", "pickle", "marshal", "msgpack", "bson"}
_HOLD_TIME = {"toml", "pickle"}
_HOLD_UUID = {"cbor", "pickle", "bson"}
_HOLD_DECIMAL = {"json", "ndjson", "yaml", "cbor", "pickle", "bson"}

_SECOND = _datetime.timedelta(seconds=1)
_MICROSECOND = _datetime.timedelta(microseconds=1)


def _moment(value: _datetime.datetime | _datetime.time) -> str:
    """Returns the text of a time without zeros at the end of its fraction, as in all formats that hold one."""
    return re.sub(r"(\.\d*[1-9])0+(?!\d)", r"\1", value.isoformat())


def _nanoseconds(rest: _datetime.timedelta) -> int:
    """Returns the nanoseconds of less than a second. Those of pandas are finer than a microsecond."""
    return rest // _MICROSECOND * 1000 + getattr(rest, "nanoseconds", 0)


def _is_plain(zone: Any, value: _datetime.datetime) -> bool:
    """Returns whether the offset says all of a time zone, which may have a name and rules. UTC of any class does."""
    if value.fold:
        return False
    if type(zone) is _datetime.timezone:
        return len(zone.__getinitargs__()) == 1 and not zone.utcoffset(None).microseconds  # type: ignore[attr-defined]
    return type(zone) is not _zone_info() and value.tzname() == "UTC" and not value.utcoffset()


def _lower_zoned(value: _datetime.datetime | _datetime.time, base: Any) -> tuple[Any, ...]:
    """Describes a date and time, or a time, in a time zone as the call that is in Python's pickles."""
    zone: Any = value.tzinfo
    if type(zone) is not _datetime.timezone and (type(zone) is not _zone_info() or zone.key is None):
        found = f"found a {base.__name__} in the time zone {zone!r}, which regauge cannot put into a pickle"
        return "unknown", found, "pass default=lambda value: value.astimezone(datetime.timezone.utc) to keep the instant"
    state = base.__reduce_ex__(value, 4)[1][0]
    return "typed", "python", "call", f"datetime.{base.__name__}", {"args": [state, zone]}


def _zone_info() -> Any:
    """Returns zoneinfo.ZoneInfo, or None if nothing has imported it."""
    return getattr(sys.modules.get("zoneinfo"), "ZoneInfo", None)


def _lower_timezone(value: _datetime.timezone, format: str) -> tuple[Any, ...]:
    if format != "pickle":
        return ("unknown",)
    return "typed", "python", "call", "datetime.timezone", {"args": list(value.__getinitargs__())}  # type: ignore[attr-defined]


def _lower_zone_info(value: Any, format: str) -> tuple[Any, ...]:
    if format != "pickle" or value.key is None:
        return ("unknown",)
    return "typed", "python", "call", "zoneinfo.ZoneInfo", {"args": [value.key]}


def _lower_datetime(value: _datetime.datetime, format: str) -> tuple[Any, ...]:
    if value != value:  # pandas.NaT
        return ("unknown",)
    if format == "pickle" and value.tzinfo is not None and not _is_plain(value.tzinfo, value):
        return _lower_zoned(value, _datetime.datetime)
    offset = value.utcoffset()
    if offset is None:
        if format in _HOLD_DATETIME:
            if format == "pickle" and value.fold:
                return "typed", "python", "fold", "", value.replace(fold=0)
            return "datetime", _moment(value)
        if format == "bson":
            value = value.replace(tzinfo=UTC)
        else:
            return "text", value.isoformat()
    elif offset and format in _HOLD_OFFSET:
        return "offset_datetime", _moment(value)
    if format in _HOLD_TIMESTAMP:
        seconds, rest = divmod(value - EPOCH, _SECOND)
        return "timestamp", seconds, _nanoseconds(rest)
    text = value.isoformat()
    return "text", text[:-6] + "Z" if not offset and text.endswith("+00:00") else text


def _lower_time(value: _datetime.time, format: str) -> tuple[Any, ...]:
    if format == "pickle" and value.tzinfo is not None:
        return _lower_zoned(value, _datetime.time)
    if format == "pickle" and value.fold:
        return "typed", "python", "fold", "", value.replace(fold=0)
    if format in _HOLD_TIME and value.tzinfo is None:
        return "time", _moment(value)
    return "text", value.isoformat()


def _lower_timedelta(value: _datetime.timedelta, format: str) -> tuple[Any, ...]:
    if value != value:  # pandas.NaT
        return ("unknown",)
    seconds, rest = divmod(value, _SECOND)
    return "duration", seconds, _nanoseconds(rest)


def _lower_decimal(value: _decimal.Decimal, format: str) -> tuple[Any, ...]:
    if format == "marshal" and not value.is_snan():
        return "typed", "ruby", "dump", "BigDecimal", _big_decimal(value)
    if not value.is_finite():
        if format == "pickle":
            return "typed", "python", "decimal", "", str(value)
        if format == "bson":
            return "decimal", str(value)
        return ("value", float(value)) if not value.is_snan() else ("unknown",)
    if format in _HOLD_DECIMAL:
        return "decimal", _tag_4(value) if format == "cbor" else str(value)
    return "text", str(value)


def _tag_4(value: _decimal.Decimal) -> str:
    """Returns the text of a decimal as CBOR reads its exponent and its mantissa (tag 4)."""
    sign, figures, exponent = value.as_tuple()
    digits = "".join(map(str, figures)).lstrip("0") or "0"
    if exponent < 0 and -exponent <= len(digits) + 6:  # type: ignore[operator]
        return format(value, "f")
    return f"{'-' if sign else ''}{digits}e{exponent}"


def _big_decimal(value: _decimal.Decimal) -> bytes:
    """Returns what Ruby's BigDecimal writes in Marshal (`BigDecimal#_dump`): the digits that its
    words of nine can hold, and the number as 0.123e4. Ruby drops trailing zeros of a fraction."""
    sign, figures, exponent = value.as_tuple()
    minus = "-" if sign else ""
    if isinstance(exponent, str):
        return b"9:NaN" if exponent == "n" else f"9:{minus}Infinity".encode()
    digits = "".join(map(str, figures)).lstrip("0")
    point = len(digits) + exponent
    digits = digits.rstrip("0")
    if not digits:
        return f"18:{minus}0.0".encode()
    words = -(-point // 9) - (point - len(digits)) // 9
    return f"{9 * max(words, 2)}:{minus}0.{digits}e{point}".encode()


def _lower_set(value: Any, format: str) -> tuple[Any, ...]:
    if format == "pickle":
        return "typed", "python", "set" if isinstance(value, set) else "frozenset", "", list(value)
    if format == "yaml":
        return "typed", "yaml", "tag", SET_TAG, dict.fromkeys(value)
    if format == "cbor":
        return "typed", "cbor", "tag", CBOR_SET, list(value)
    if format == "marshal":
        return "typed", "ruby", "set", "Set", list(value)
    return "value", list(value)


def _lower_uuid(value: _uuid.UUID, format: str) -> tuple[Any, ...]:
    return ("uuid", value.bytes) if format in _HOLD_UUID else ("text", str(value))


def _lower_complex(value: complex, format: str) -> tuple[Any, ...]:
    return "complex", value.real, value.imag


def _lower_bytearray(value: bytearray, format: str) -> tuple[Any, ...]:
    if format == "pickle":
        return "typed", "python", "bytearray", "", bytes(value)
    return "bytes", bytes(value)


def _lower_object(value: Object, format: str) -> tuple[Any, ...]:
    return "typed", value.origin, value.kind, value.name, value.value


def _lower_mapping(kind: str) -> Any:
    def lower_mapping(value: Any, format: str) -> tuple[Any, ...]:
        if format != "pickle":
            return ("ordered" if kind == "ordered_dict" else "dict",)
        name = ""
        if kind == "defaultdict" and value.default_factory is not None:
            factory = value.default_factory
            name = f"builtins.{factory.__name__}"
            if FACTORIES.get(name) is not factory:
                return ("unknown",)
        return "typed", "python", kind, name, dict(value)

    return lower_mapping


def _lower_deque(value: Any, format: str) -> tuple[Any, ...]:
    if format != "pickle":
        return "value", list(value)
    name = "" if value.maxlen is None else str(value.maxlen)
    return "typed", "python", "deque", name, list(value)


def _lower_path(value: pathlib.PurePath, format: str) -> tuple[Any, ...]:
    if format == "pickle":
        return "typed", "python", "path", f"pathlib.{type(value).__name__}", str(value)
    return "text", str(value)


# By exact type: this covers most objects.
_EXACT: dict[type, Any] = {
    _datetime.datetime: _lower_datetime,
    _datetime.date: lambda value, format: (
        "date" if format in _HOLD_DATE else "text",
        value.isoformat(),
    ),
    _datetime.time: _lower_time,
    _datetime.timedelta: _lower_timedelta,
    _datetime.timezone: _lower_timezone,
    _decimal.Decimal: _lower_decimal,
    _uuid.UUID: _lower_uuid,
    set: _lower_set,
    frozenset: _lower_set,
    bytearray: _lower_bytearray,
    memoryview: lambda value, format: ("bytes", value.tobytes()),
    complex: _lower_complex,
    Object: _lower_object,
    Symbol: lambda value, format: ("symbol", str(value)),
    Code: lambda value, format: ("code", str(value)),
    BrokenText: lambda value, format: ("broken_text", bytes(value)),
    ExtType: lambda value, format: ("ext", *value),
    Timestamp: lambda value, format: ("timestamp", *value),
    Duration: lambda value, format: ("exact_duration", *value),
    Moment: lambda value, format: tuple(value),
    Binary: lambda value, format: ("binary", bytes(value), value.subtype),
    Decimal128: lambda value, format: ("decimal128", value.bid),
    ObjectId: lambda value, format: ("objectid", value.binary),
    Regex: lambda value, format: ("regex", *value),
    BsonTimestamp: lambda value, format: ("bson_timestamp", *value),
    DbPointer: lambda value, format: ("dbpointer", value.namespace, value.id.binary),
    Simple: lambda value, format: ("simple", *value),
    Special: lambda value, format: (value.value,),
    OrderedDict: _lower_mapping("ordered_dict"),
    collections.Counter: _lower_mapping("counter"),
    collections.defaultdict: _lower_mapping("defaultdict"),
    collections.deque: _lower_deque,
    fractions.Fraction: lambda value, format: (
        ("typed", "python", "fraction", "", str(value)) if format == "pickle" else ("unknown",)
    ),
    range: lambda value, format: (
        ("typed", "python", "range", "", [value.start, value.stop, value.step])
        if format == "pickle"
        else ("value", list(value))
    ),
}


def _fields(cls: type) -> tuple[str, ...] | None:
    """Returns the field names of a dataclass or an attrs class."""
    if dataclasses.is_dataclass(cls):
        return tuple(field.name for field in dataclasses.fields(cls))
    attributes = getattr(cls, "__attrs_attrs__", None)
    if attributes is not None:
        return tuple(attribute.name for attribute in attributes)
    return None


def _lower_numpy(value: Any, format: str) -> tuple[Any, ...]:
    numpy = sys.modules["numpy"]
    kind = value.dtype.kind
    if kind in "biufUSO":
        if kind == "f" and value.dtype.itemsize > 8:
            return ("unknown",)
        if isinstance(value, numpy.ndarray):
            return "value", value.tolist()
        return "value", value.item()
    if kind == "c" and value.dtype.itemsize <= 16:
        return "value", value.tolist()
    if kind in "mM":
        # If it is finer than a microsecond, numpy itself would return a bare integer.
        if value.ndim:
            return "value", list(value)
        unit, count = numpy.datetime_data(value.dtype)
        if numpy.isnat(value) or unit not in _NANOSECONDS_OF:
            return ("unknown",)
        made = value.tolist()
        # Of what is finer than a microsecond, or beyond the range of Python's types, numpy makes a bare integer.
        if isinstance(made, int):
            nanoseconds = int(value.astype("int64")) * count * _NANOSECONDS_OF[unit]
            seconds, rest = divmod(nanoseconds, 1_000_000_000)
            made = timestamp(seconds, rest) if kind == "M" else duration(seconds, rest)
        return "value", made
    return ("unknown",)


_NANOSECONDS_OF = {
    "ns": 1,
    "us": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
    "D": 86_400_000_000_000,
    "W": 604_800_000_000_000,
}


_BASES = (
    (str, "str"),
    (int, "int"),
    (float, "float"),
    (OrderedDict, "ordered"),
    (dict, "dict"),
    (list, "list"),
    (tuple, "tuple"),
)


def lower(value: Any, format: str) -> tuple[Any, ...]:
    """Describes an object: a word, and what belongs to it. An empty tuple leaves it to `default`, and so does
    ("unknown", message, hint), which has the words for an error."""
    done = _lower(value, format)
    return done if done != ("unknown",) else ()


def _lower(value: Any, format: str) -> tuple[Any, ...]:
    cls = type(value)
    found = _EXACT.get(cls)
    if found is not None:
        return tuple(found(value, format))
    # By type: a proxy's `__class__` is another one.
    if issubclass(cls, enum.Enum):
        return "value", value.value
    # Subclasses: a named tuple is an array, as in json.
    for base, word in _BASES:
        if issubclass(cls, base):
            return (word,) if word != "int" or cls is not bool else ()
    names = _fields(cls)
    if names is not None:
        return "fields", names
    if issubclass(cls, bytes):
        return "bytes", bytes(value)
    if issubclass(cls, pathlib.PurePath):
        return _lower_path(value, format)
    numpy = sys.modules.get("numpy")
    if numpy is not None and issubclass(cls, (numpy.generic, numpy.ndarray)):
        return _lower_numpy(value, format)
    if cls is _zone_info():
        return _lower_zone_info(value, format)
    for parent in cls.__mro__[1:]:
        found = _EXACT.get(parent)
        if found is not None:
            return tuple(found(value, format))
    return ("unknown",)
