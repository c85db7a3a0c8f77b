"""Packing: packb and Packer."""

from __future__ import annotations

import datetime as _datetime
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any

from ... import _regauge, _values
from ..._errors import EncodeError, Error
from .ext import ExtType, Timestamp

# What is not plain data: integers beyond 64 bits, text that UTF-8 cannot represent.
_ALWAYS = "ints surrogates"
_LIMITS = {"depth": 1024}


class _Single(float):
    """A number to write with single precision."""


class Conversions:
    """What becomes of objects that are not plain data.

    The arguments are those of Packer.
    """

    def __init__(
        self,
        default: Callable[[Any], Any] | None = None,
        use_bin_type: bool = True,
        strict_types: bool = False,
        datetime: bool = False,
        unicode_errors: str | None = None,
    ) -> None:
        self.default = default
        self.bytes_word = "bytes" if use_bin_type else "broken_text"
        self.strict_types = strict_types
        self.datetime = datetime
        self.unicode_errors = unicode_errors or "strict"

    def lower(self, value: Any, format: str) -> tuple[Any, ...]:
        """Describes an object, as regauge._lower.lower does; () leaves it to `default`."""
        cls = type(value)
        if cls is ExtType or cls is _values.ExtType:
            return "ext", value.code, value.data
        if cls is Timestamp or cls is _values.Timestamp:
            return "timestamp", value.seconds, value.nanoseconds
        if cls is _Single:
            if abs(value) > 3.4028234663852886e38 and value - value == 0:
                raise OverflowError("float too large to pack with f format")
            return "float32", value
        if self.strict_types and cls not in (str, int, bytes, bytearray, memoryview):
            # Exactly these types, and no subclass, a tuple included.
            return self._time(value)
        if isinstance(value, str):
            return "broken_text", str.encode(value, "utf-8", self.unicode_errors)
        if isinstance(value, (bytes, bytearray)):
            return self.bytes_word, bytes(value)
        if isinstance(value, memoryview):
            return self.bytes_word, value.tobytes()
        if isinstance(value, int):
            if -(1 << 63) <= value < 1 << 64:
                return ("int",)
            if self.default is None:
                raise OverflowError("Integer value out of range")
            return ()
        if isinstance(value, float):
            return ("float",)
        if isinstance(value, dict):
            return ("ordered" if isinstance(value, OrderedDict) else "dict",)
        if isinstance(value, ExtType):
            return "ext", value.code, value.data
        if isinstance(value, Timestamp):
            return "timestamp", value.seconds, value.nanoseconds
        if isinstance(value, list):
            return ("list",)
        if isinstance(value, tuple):
            return ("tuple",)
        return self._time(value)

    def _time(self, value: Any) -> tuple[Any, ...]:
        """Describes a datetime, if these are to be written."""
        is_time = self.datetime and isinstance(value, _datetime.datetime)
        if is_time and value.tzinfo is not None:
            made = Timestamp.from_datetime(value)
            return "timestamp", made.seconds, made.nanoseconds
        if self.default is None:
            why = " where tzinfo=None" if is_time else ""
            kind = ValueError if is_time else TypeError
            raise kind(f"can not serialize '{type(value).__name__}' object{why}")
        return ()


plain = _regauge.Dialect("msgpack", Conversions(), _ALWAYS, limits=_LIMITS).dumps


def failed(error: Error) -> Exception:
    """Returns msgpack's exception for one of regauge's while packing."""
    if error.kind == "limit" and "`default`" not in str(error):
        return ValueError(f"recursion limit exceeded; {error}")
    return TypeError(str(error)) if isinstance(error, EncodeError) else ValueError(str(error))


def _singles(value: Any, strict: bool) -> Any:
    """Returns a value whose floats are to be written with single precision."""
    cls = type(value)
    if cls is float or (not strict and isinstance(value, float)):
        return _Single(value)
    if cls is dict or (not strict and isinstance(value, dict)):
        return {_singles(key, strict): _singles(item, strict) for key, item in value.items()}
    if cls is list or (not strict and isinstance(value, (list, tuple)) and cls is not ExtType):
        items = [_singles(item, strict) for item in value]
        return items if isinstance(value, list) else tuple(items)
    return value


def _header(count: int, what: str, short: int, most: int, wide: int) -> bytes:
    """Returns the header of an array or a map of so many items."""
    if count < 0:
        raise ValueError(f"{what} size must be non-negative")
    if count <= most:
        return bytes([short | count])
    if count < 1 << 16:
        return bytes([wide]) + count.to_bytes(2, "big")
    if count < 1 << 32:
        return bytes([wide + 1]) + count.to_bytes(4, "big")
    raise ValueError(f"{what} is too large")


class Packer:
    """Packs values, one by one or into a buffer (autoreset=False).

    default -- called with an object of another type; returns a replacement
    use_single_float -- writes floats with single precision
    autoreset -- returns the bytes of each call; otherwise they gather until reset()
    use_bin_type -- writes bytes as bin; otherwise as str, as before MessagePack 2.0
    strict_types -- takes no subclasses, and no tuples: these go to default
    datetime -- writes datetimes with a zone as timestamps
    unicode_errors -- error handler of str.encode
    buf_size -- accepted for msgpack's sake; the buffer grows as needed
    """

    def __init__(
        self,
        *,
        default: Callable[[Any], Any] | None = None,
        use_single_float: bool = False,
        autoreset: bool = True,
        use_bin_type: bool = True,
        strict_types: bool = False,
        datetime: bool = False,
        unicode_errors: str | None = None,
        buf_size: int = 256 * 1024,
    ) -> None:
        if default is not None and not callable(default):
            raise TypeError("default must be callable")
        int(buf_size)
        self._single = bool(use_single_float)
        self._strict = bool(strict_types)
        self._autoreset = bool(autoreset)
        self._buffer = bytearray()
        if default is None and use_bin_type and not (strict_types or datetime or unicode_errors):
            self._dumps = plain
            return
        special = _ALWAYS + ("" if use_bin_type else " bytes") + (" tuples" if strict_types else "")
        made = Conversions(
            default, bool(use_bin_type), self._strict, bool(datetime), unicode_errors
        )
        called = default
        if default is not None and self._single:
            called = lambda value: _singles(default(value), self._strict)  # noqa: E731
        dialect = _regauge.Dialect("msgpack", made, special, default=called, limits=_LIMITS)
        self._dumps = dialect.dumps

    def pack(self, obj: Any) -> bytes | None:
        """Packs a value; returns its bytes, with autoreset=False None."""
        if self._single:
            obj = _singles(obj, self._strict)
        try:
            data = self._dumps(obj)
        except Error as error:
            raise failed(error) from error
        return data if self._autoreset and not self._buffer else self._done(data)

    def _done(self, data: bytes) -> bytes | None:
        """Returns the bytes, or keeps them."""
        self._buffer += data
        if not self._autoreset:
            return None
        whole = bytes(self._buffer)
        self._buffer = bytearray()
        return whole

    def pack_map_pairs(self, pairs: Iterable[tuple[Any, Any]]) -> bytes | None:
        """Packs pairs as a map."""
        pairs = list(pairs)
        data = _header(len(pairs), "map", 0x80, 15, 0xDE)
        for pair in pairs:
            for part in pair:
                try:
                    data += self._dumps(_singles(part, self._strict) if self._single else part)
                except Error as error:
                    raise failed(error) from error
        return self._done(data)

    def pack_array_header(self, size: int) -> bytes | None:
        """Packs the header of an array, whose items are packed next."""
        return self._done(_header(size, "array", 0x90, 15, 0xDC))

    def pack_map_header(self, size: int) -> bytes | None:
        """Packs the header of a map, whose keys and values are packed next."""
        return self._done(_header(size, "map", 0x80, 15, 0xDE))

    def pack_ext_type(self, typecode: int, data: bytes) -> bytes | None:
        """Packs an extension."""
        if not isinstance(typecode, int):
            raise TypeError("typecode must have int type.")
        if not -128 <= typecode <= 127:
            raise ValueError("typecode should be -128 to 127")
        return self._done(_regauge.msgpack.dumps(_values.ExtType(typecode, bytes(data))))

    def bytes(self) -> bytes:
        """Returns what the buffer holds."""
        return _bytes(self._buffer)

    __bytes__ = bytes

    def reset(self) -> None:
        """Empties the buffer."""
        self._buffer = bytearray()

    def getbuffer(self) -> memoryview:
        """Returns a view of the buffer."""
        return memoryview(self._buffer)


_bytes = bytes


def packb(o: Any, **options: Any) -> bytes:
    """Returns the bytes of a value; takes the arguments of Packer."""
    if options:
        return Packer(**options).pack(o)  # type: ignore[return-value]
    try:
        data: bytes = plain(o)
        return data
    except Error as error:
        raise failed(error) from error


def pack(o: Any, stream: Any, **options: Any) -> None:
    """Writes the bytes of a value to a file object; takes the arguments of Packer."""
    stream.write(packb(o, **options))
