"""Values that are not plain data: their classes, and how they are decoded. `_lower` encodes them.

The native part calls the functions here. Nothing in this module looks up a class by a name from the
data: every class that is ever instantiated is named in the source below.
"""

from __future__ import annotations

import collections
import datetime as _datetime
import decimal as _decimal
import enum
import fractions
import functools
import os
import pathlib
import uuid as _uuid
from typing import Any, NamedTuple

UTC = _datetime.timezone.utc
EPOCH = _datetime.datetime(1970, 1, 1, tzinfo=UTC)


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
        return EPOCH + _datetime.timedelta(seconds=int.from_bytes(self.binary[:4], "big"))

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
            return EPOCH + _datetime.timedelta(seconds=seconds, microseconds=nanoseconds // 1000)
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
FACTORIES = {
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
SET_TAG = "tag:yaml.org,2002:set"
_OMAP_TAG = "tag:yaml.org,2002:omap"
# https://www.iana.org/assignments/cbor-tags: 258 is a set.
CBOR_SET = "258"


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
        elif origin == "cbor" and name == CBOR_SET and type(value) is list:
            made = _set(value)
        elif origin == "ruby" and kind == "set" and name == "Set":
            made = _set(value)
        elif origin == "ruby" and kind == "dump" and name == "BigDecimal":
            # NaN and the infinities: all others arrive as decimals.
            made = _decimal.Decimal(value.decode().partition(":")[2])
        else:
            made = None
    except (TypeError, ValueError, ArithmeticError):
        made = None
    return Object(origin, kind, name, value) if made is None else made


def _set(items: list[Any]) -> set[Any] | None:
    """Returns a set; None if elements that the document tells apart are equal in Python."""
    made = set(map(_immutable, items))
    return made if len(made) == len(items) else None


def _immutable(item: Any) -> Any:
    """Returns an element of a set as a key of a dict is built: from tuples and frozensets."""
    if type(item) is list:
        return tuple(map(_immutable, item))
    return frozenset(item) if type(item) is set else item


def _yaml(name: str, value: Any) -> Any:
    if name == SET_TAG and type(value) is dict:
        return set(value) if all(one is None for one in value.values()) else None
    if name == _OMAP_TAG and type(value) is list:
        pairs = [next(iter(one.items())) for one in value if type(one) is dict and len(one) == 1]
        made = collections.OrderedDict(pairs)
        return made if len(made) == len(value) else None
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
        if not name or name in FACTORIES:
            return collections.defaultdict(FACTORIES.get(name), value)
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
    if kind == "call" and type(value) is dict and set(value) <= {"args", "callable"}:
        return _zoned(name, value["args"], value.get("callable"))
    return None


# What Python's pickles call for a ZoneInfo; ours call the class.
_UNPICKLE_ZONE = Object(
    "python", "call", "builtins.getattr",
    {"args": [Object("python", "global", "zoneinfo.ZoneInfo", "zoneinfo:ZoneInfo"), "_unpickle"]},
)


def _zoned(name: str, args: list[Any], callee: Any) -> Any:
    """Returns a time zone, or a date or time in one; None for any other call."""
    match name, args:
        case "", [key, _] if callee == _UNPICKLE_ZONE:
            return _zone(key)
        case _ if callee is not None:
            return None
        case "zoneinfo.ZoneInfo", [key]:
            return _zone(key)
        case "datetime.timezone", _:
            return _datetime.timezone(*args)
        case "datetime.datetime", [bytes(state), _datetime.tzinfo() as zone]:
            century, year, month, day, *clock = state
            date = century << 8 | year, month & 0x7F, day
            return _datetime.datetime(*date, *_clock(*clock), zone, fold=month >> 7)
        case "datetime.time", [bytes(state), _datetime.tzinfo() as zone]:
            hour, *rest = state
            return _datetime.time(*_clock(hour & 0x7F, *rest), zone, fold=hour >> 7)
    return None


def _clock(hour: int, minute: int, second: int, high: int, middle: int, low: int) -> tuple[int, int, int, int]:
    """Returns a time of day. Python's own constructors take its bytes without a check."""
    return hour, minute, second, high << 16 | middle << 8 | low


def _zone(key: Any) -> Any:
    """Returns a time zone of the system's database; None for any other name, for which nothing is opened."""
    import zoneinfo

    return zoneinfo.ZoneInfo(key) if type(key) is str and key in _zones() else None


@functools.cache
def _zones() -> frozenset[str]:
    import zoneinfo

    return frozenset(zoneinfo.available_timezones())


def construct(constructor: Any, kind: str, value: Any) -> Any:
    """Calls a constructor of the caller's with the arguments of a call, otherwise with the
    content."""
    if kind in ("call", "new", "new_ex", "instance_call") and type(value) is dict:
        if set(value) <= {"args", "kwargs"}:
            return constructor(*value.get("args", ()), **value.get("kwargs", {}))
    return constructor(value)
