"""Values that are not plain data: how they are decoded, and how they are encoded.

The native part calls the functions here. Nothing in this module looks up a class by a name from the
data: every class that is ever instantiated is named in the source below.
"""

from __future__ import annotations

import collections
import dataclasses
import datetime as _datetime
import decimal as _decimal
import enum
import fractions
import os
import pathlib
import re
import sys
import uuid as _uuid
from typing import Any, NamedTuple

_UTC = _datetime.timezone.utc
_EPOCH = _datetime.datetime(1970, 1, 1, tzinfo=_UTC)


class Object:
    """A value of an unknown type: names and data, without behaviour.

    origin -- origin of the type: "python", "ruby", "yaml", "cbor", "bson"
    kind -- kind of type, as in docs/formats: "object", "call", "tag"
    name -- the class or the tag; "" if the kind says everything
    value -- the content
    """

    __slots__ = ("origin", "kind", "name", "value")
    __match_args__ = ("origin", "kind", "name", "value")

    def __init__(self, origin: str, kind: str, name: str, value: Any) -> None:
        self.origin = origin
        self.kind = kind
        self.name = name
        self.value = value

    def __repr__(self) -> str:
        return f"Object({self.origin!r}, {self.kind!r}, {self.name!r}, {self.value!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Object):
            return NotImplemented
        mine = (self.origin, self.kind, self.name, self.value)
        return mine == (other.origin, other.kind, other.name, other.value)

    # Mutable, like a list.
    __hash__ = None  # type: ignore[assignment]


class Symbol(str):
    """A symbol, from Ruby or BSON. Equal to the str with the same text."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Symbol({str.__repr__(self)})"


class Code(str):
    """JavaScript code, as stored in BSON."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Code({str.__repr__(self)})"


class BrokenText(bytes):
    """Text whose bytes are not UTF-8."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"BrokenText({bytes.__repr__(self)})"


class ExtType(NamedTuple):
    """A MessagePack extension: its code, -128 to 127, and its payload."""

    code: int
    data: bytes


class Timestamp(NamedTuple):
    """A point in time that datetime cannot hold: finer than a microsecond, or too far away."""

    seconds: int
    nanoseconds: int


class Duration(NamedTuple):
    """A duration that timedelta cannot hold."""

    seconds: int
    nanoseconds: int


class Moment(NamedTuple):
    """A date or a time that Python's types cannot hold, as text.

    kind -- "date", "time", "datetime", "offset_datetime"
    """

    kind: str
    text: str


class Binary(bytes):
    """Binary data with a subtype, as stored in BSON."""

    subtype: int

    def __new__(cls, data: bytes, subtype: int) -> Binary:
        made = super().__new__(cls, data)
        made.subtype = subtype
        return made

    def __repr__(self) -> str:
        return f"Binary({bytes.__repr__(self)}, {self.subtype})"

    def __eq__(self, other: object) -> bool:
        mine = getattr(other, "subtype", 0)
        return isinstance(other, bytes) and bytes.__eq__(self, other) and mine == self.subtype

    def __hash__(self) -> int:
        return hash((bytes(self), self.subtype))

    def __reduce__(self) -> Any:
        return Binary, (bytes(self), self.subtype)


class Decimal128(NamedTuple):
    """A 128-bit decimal that decimal.Decimal would not round-trip: a NaN with a payload."""

    bid: bytes


class ObjectId:
    """A BSON ObjectId: twelve bytes, or their hexadecimal digits."""

    __slots__ = ("binary",)

    def __init__(self, value: bytes | str) -> None:
        binary = bytes.fromhex(value) if isinstance(value, str) else bytes(value)
        if len(binary) != 12:
            raise ValueError(f"found {len(binary)} bytes as an ObjectId, expected 12")
        self.binary = binary

    @property
    def generation_time(self) -> _datetime.datetime:
        """Returns its creation time, in UTC, to the second."""
        return _EPOCH + _datetime.timedelta(seconds=int.from_bytes(self.binary[:4], "big"))

    def __str__(self) -> str:
        return self.binary.hex()

    def __repr__(self) -> str:
        return f"ObjectId('{self.binary.hex()}')"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ObjectId) and other.binary == self.binary

    def __lt__(self, other: ObjectId) -> bool:
        return self.binary < other.binary

    def __hash__(self) -> int:
        return hash(self.binary)


class Regex(NamedTuple):
    """A regular expression and its options as letters."""

    pattern: str
    options: str


class BsonTimestamp(NamedTuple):
    """A BSON timestamp, which MongoDB uses internally."""

    seconds: int
    increment: int


class DbPointer(NamedTuple):
    """A BSON DBPointer."""

    namespace: str
    id: ObjectId


class Simple(NamedTuple):
    """A CBOR simple value without an assigned meaning."""

    value: int


class Special(enum.Enum):
    """Singleton values of BSON and CBOR."""

    MIN_KEY = "min_key"
    MAX_KEY = "max_key"
    UNDEFINED = "undefined"

    def __repr__(self) -> str:
        return self.name


MIN_KEY = Special.MIN_KEY
MAX_KEY = Special.MAX_KEY
UNDEFINED = Special.UNDEFINED


# --- Decoding: what the events become.


def timestamp(seconds: int, nanoseconds: int) -> Any:
    """Returns a point in time: a datetime in UTC if that can hold it."""
    if nanoseconds % 1000 == 0:
        try:
            return _EPOCH + _datetime.timedelta(seconds=seconds, microseconds=nanoseconds // 1000)
        except OverflowError:
            pass
    return Timestamp(seconds, nanoseconds)


def duration(seconds: int, nanoseconds: int) -> Any:
    """Returns a duration: a timedelta if that can hold it."""
    if nanoseconds % 1000 == 0:
        try:
            return _datetime.timedelta(seconds=seconds, microseconds=nanoseconds // 1000)
        except OverflowError:
            pass
    return Duration(seconds, nanoseconds)


def _iso(text: str) -> str:
    """Rewrites an RFC 3339 text for Python 3.10: six fractional digits, or none."""
    head, point, tail = text.partition(".")
    if not point:
        return text.replace("Z", "+00:00")
    digits = len(tail) - len(tail.lstrip("0123456789"))
    fraction, zone = tail[:digits], tail[digits:]
    if len(fraction) > 6 and fraction[6:].strip("0"):
        raise ValueError(text)
    return f"{head}.{fraction[:6]:0<6}{zone}".replace("Z", "+00:00")


def date(text: str) -> Any:
    """Returns a date."""
    try:
        return _datetime.date.fromisoformat(text)
    except ValueError:
        return Moment("date", text)


def time(text: str) -> Any:
    """Returns a time of day."""
    try:
        return _datetime.time.fromisoformat(_iso(text))
    except ValueError:
        return Moment("time", text)


def datetime(text: str) -> Any:
    """Returns a date and a time, with or without an offset."""
    try:
        return _datetime.datetime.fromisoformat(_iso(text).replace(" ", "T"))
    except ValueError:
        zone = text[10:]
        offset = "+" in zone or "-" in zone or "Z" in zone
        return Moment("offset_datetime" if offset else "datetime", text)


def decimal(text: str) -> _decimal.Decimal:
    """Returns a decimal with its digits."""
    return _decimal.Decimal(text)


def uuid(data: bytes) -> _uuid.UUID:
    """Returns a UUID."""
    return _uuid.UUID(bytes=data)


# Harmless factories of a defaultdict, by name.
_FACTORIES = {
    f"builtins.{one.__name__}": one for one in (bool, bytes, dict, float, int, list, set, str, tuple)
}
_PATHS = {
    "PurePosixPath": pathlib.PurePosixPath,
    "PureWindowsPath": pathlib.PureWindowsPath,
    "PosixPath": pathlib.PurePosixPath if os.name == "nt" else pathlib.PosixPath,
    "WindowsPath": pathlib.PureWindowsPath,
    "PurePath": pathlib.PurePath,
    "Path": pathlib.Path,
}
_SET_TAG = "tag:yaml.org,2002:set"
_OMAP_TAG = "tag:yaml.org,2002:omap"
# https://www.iana.org/assignments/cbor-tags: 258 is a set.
_CBOR_SET = "258"


def typed(origin: str, kind: str, name: str, value: Any, early: Object | None) -> Any:
    """Converts a typed value."""
    if early is not None:
        early.value = value
        return early
    try:
        if origin == "python":
            made = _python(kind, name, value)
        elif origin == "yaml":
            made = _yaml(name, value)
        elif origin == "cbor" and name == _CBOR_SET and type(value) is list:
            made = set(value)
        elif origin == "ruby" and kind == "set" and name == "Set":
            made = set(value)
        elif origin == "ruby" and kind == "dump" and name == "BigDecimal":
            # NaN and the infinities: all others arrive as decimals.
            made = _decimal.Decimal(value.decode().partition(":")[2])
        else:
            made = None
    except (TypeError, ValueError, ArithmeticError):
        made = None
    return Object(origin, kind, name, value) if made is None else made


def _yaml(name: str, value: Any) -> Any:
    if name == _SET_TAG and type(value) is dict:
        return set(value) if all(one is None for one in value.values()) else None
    if name == _OMAP_TAG and type(value) is list:
        pairs = [next(iter(one.items())) for one in value if type(one) is dict and len(one) == 1]
        return collections.OrderedDict(pairs) if len(pairs) == len(value) else None
    return None


def _python(kind: str, name: str, value: Any) -> Any:
    if kind == "tuple":
        return tuple(value)
    if kind == "set":
        return set(value)
    if kind == "frozenset":
        return frozenset(value)
    if kind == "bytearray":
        return bytearray(value)
    if kind == "ordered_dict":
        return collections.OrderedDict(value)
    if kind == "counter":
        return collections.Counter(value)
    if kind == "deque":
        return collections.deque(value, int(name) if name else None)
    if kind == "defaultdict":
        if not name or name in _FACTORIES:
            return collections.defaultdict(_FACTORIES.get(name), value)
        return None
    if kind == "decimal":
        return _decimal.Decimal(value)
    if kind == "fraction":
        return fractions.Fraction(value)
    if kind == "range":
        return range(*value)
    if kind == "slice":
        return slice(*value)
    if kind == "path":
        return _PATHS[name.rpartition(".")[2]](value) if name.rpartition(".")[2] in _PATHS else None
    if kind == "fold":
        return value.replace(fold=1)
    return None


def construct(constructor: Any, kind: str, value: Any) -> Any:
    """Calls a constructor of the caller's with the arguments of a call, otherwise with the
    content."""
    if kind in ("call", "new", "new_ex", "instance_call") and type(value) is dict:
        if set(value) <= {"args", "kwargs"}:
            return constructor(*value.get("args", ()), **value.get("kwargs", {}))
    return constructor(value)


# --- Encoding: what an object is, in the vocabulary of the native part.

# Formats that have a type for each of these.
_HOLD_DATE = {"yaml", "toml", "cbor", "pickle"}
_HOLD_DATETIME = {"yaml", "toml", "pickle"}
_HOLD_OFFSET = {"yaml", "toml", "cbor", "pickle", "marshal"}
_HOLD_TIMESTAMP = {"yaml", "toml", "cbor", "pickle", "marshal", "msgpack", "bson"}
_HOLD_TIME = {"toml", "pickle"}
_HOLD_UUID = {"cbor", "pickle", "bson"}
_HOLD_DECIMAL = {"json", "ndjson", "yaml", "cbor", "pickle", "bson"}
_HOLD_COMPLEX = {"pickle", "marshal"}

_SECOND = _datetime.timedelta(seconds=1)
_MICROSECOND = _datetime.timedelta(microseconds=1)


def _moment(value: _datetime.datetime | _datetime.time, format: str) -> str:
    """Returns the text of a time; TOML's has no zeros at the end of a fraction."""
    text = value.isoformat()
    return re.sub(r"(\.\d*[1-9])0+", r"\1", text) if format == "toml" else text


def _lower_datetime(value: _datetime.datetime, format: str) -> tuple[Any, ...]:
    offset = value.utcoffset()
    if offset is None:
        if format in _HOLD_DATETIME:
            if format == "pickle" and value.fold:
                return "typed", "python", "fold", "", value.replace(fold=0)
            return "datetime", _moment(value, format)
        if format == "bson":
            value = value.replace(tzinfo=_UTC)
        else:
            return "text", value.isoformat()
    elif offset and format in _HOLD_OFFSET:
        return "offset_datetime", _moment(value, format)
    if format in _HOLD_TIMESTAMP:
        seconds, rest = divmod(value - _EPOCH, _SECOND)
        return "timestamp", seconds, rest // _MICROSECOND * 1000
    text = value.isoformat()
    return "text", text[:-6] + "Z" if not offset and text.endswith("+00:00") else text


def _lower_time(value: _datetime.time, format: str) -> tuple[Any, ...]:
    kind = "time" if format in _HOLD_TIME and value.tzinfo is None else "text"
    return kind, _moment(value, format)


def _lower_timedelta(value: _datetime.timedelta, format: str) -> tuple[Any, ...]:
    seconds, rest = divmod(value, _SECOND)
    return "duration", seconds, rest // _MICROSECOND * 1000


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
        return "decimal", str(value)
    return "text", str(value)


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
        return "typed", "yaml", "tag", _SET_TAG, dict.fromkeys(value)
    if format == "cbor":
        return "typed", "cbor", "tag", _CBOR_SET, list(value)
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
            return ("dict",)
        name = ""
        if kind == "defaultdict" and value.default_factory is not None:
            factory = value.default_factory
            name = f"builtins.{factory.__name__}"
            if _FACTORIES.get(name) is not factory:
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
    collections.OrderedDict: _lower_mapping("ordered_dict"),
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
        unit = numpy.datetime_data(value.dtype)[0]
        if unit in ("us", "ms", "s", "m", "h", "D", "W") and not numpy.isnat(value).any():
            return "value", value.tolist()
        if unit == "ns" and value.ndim == 0 and not numpy.isnat(value):
            seconds, rest = divmod(int(value.astype("int64")), 1_000_000_000)
            made = timestamp(seconds, rest) if kind == "M" else duration(seconds, rest)
            return "value", made
        if value.ndim:
            return "value", list(value)
    return ("unknown",)


def lower(value: Any, format: str) -> tuple[Any, ...]:
    """Describes an object: a word, and what belongs to it. ("unknown",) leaves it to `default`."""
    cls = type(value)
    found = _EXACT.get(cls)
    if found is not None:
        done = found(value, format)
        return done if done[0] != "unknown" else ()
    if isinstance(value, enum.Enum):
        return "value", value.value
    names = _fields(cls)
    if names is not None:
        return "fields", names
    # Subclasses: a named tuple is an array, as in json.
    for base, word in ((str, "str"), (int, "int"), (float, "float"), (dict, "dict")):
        if isinstance(value, base):
            return (word,) if word != "int" or cls is not bool else ()
    if isinstance(value, list):
        return ("list",)
    if isinstance(value, tuple):
        return ("tuple",)
    if isinstance(value, bytes):
        return "bytes", bytes(value)
    if isinstance(value, pathlib.PurePath):
        return _lower_path(value, format)
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, (numpy.generic, numpy.ndarray)):
        done = _lower_numpy(value, format)
        return done if done[0] != "unknown" else ()
    for parent in cls.__mro__[1:]:
        found = _EXACT.get(parent)
        if found is not None:
            done = found(value, format)
            return done if done[0] != "unknown" else ()
    return ()
