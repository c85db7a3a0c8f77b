"""msgpack's types: extensions and timestamps."""

from __future__ import annotations

import datetime as _datetime
from collections import namedtuple
from typing import Any

from ... import _regauge, _values

_EPOCH = _datetime.datetime(1970, 1, 1, tzinfo=_datetime.timezone.utc)
_SECOND = _datetime.timedelta(seconds=1)
_MICROSECOND = _datetime.timedelta(microseconds=1)


class ExtType(namedtuple("ExtType", "code data")):
    """An extension: its code, 0 to 127, and its payload."""

    __slots__ = ()

    def __new__(cls, code: int, data: bytes) -> ExtType:
        if not isinstance(code, int):
            raise TypeError("code must be int")
        if not isinstance(data, bytes):
            raise TypeError("data must be bytes")
        if not 0 <= code <= 127:
            raise ValueError("code must be 0~127")
        return super().__new__(cls, code, data)


class Timestamp:
    """A point in time, in whole seconds since 1970 and nanoseconds."""

    __slots__ = ["seconds", "nanoseconds"]

    def __init__(self, seconds: int, nanoseconds: int = 0) -> None:
        if not isinstance(seconds, int):
            raise TypeError("seconds must be an integer")
        if not isinstance(nanoseconds, int):
            raise TypeError("nanoseconds must be an integer")
        if not 0 <= nanoseconds < 10**9:
            raise ValueError("nanoseconds must be a non-negative integer less than 999999999.")
        self.seconds = seconds
        self.nanoseconds = nanoseconds

    def __repr__(self) -> str:
        return f"Timestamp(seconds={self.seconds}, nanoseconds={self.nanoseconds})"

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return False
        return (self.seconds, self.nanoseconds) == (other.seconds, other.nanoseconds)

    def __hash__(self) -> int:
        return hash((self.seconds, self.nanoseconds))

    @staticmethod
    def from_bytes(b: bytes) -> Timestamp:
        """Returns the timestamp with this payload of 4, 8 or 12 bytes."""
        headers = {4: b"\xd6\xff", 8: b"\xd7\xff", 12: b"\xc7\x0c\xff"}
        if len(b) not in headers:
            raise ValueError(
                "Timestamp type can only be created from 32, 64, or 96-bit byte objects"
            )
        made: Timestamp = _PLAIN.loads(headers[len(b)] + b)
        return made

    def to_bytes(self) -> bytes:
        """Returns the payload: 4, 8 or 12 bytes."""
        written: bytes = _regauge.msgpack.dumps(_values.Timestamp(self.seconds, self.nanoseconds))
        return written[3:] if written[0] == 0xC7 else written[2:]

    @staticmethod
    def from_unix(unix_sec: float) -> Timestamp:
        """Returns the timestamp of so many seconds since 1970."""
        return Timestamp(int(unix_sec // 1), int((unix_sec % 1) * 10**9))

    def to_unix(self) -> float:
        """Returns the seconds since 1970."""
        return self.seconds + self.nanoseconds / 1e9

    @staticmethod
    def from_unix_nano(unix_ns: int) -> Timestamp:
        """Returns the timestamp of so many nanoseconds since 1970."""
        return Timestamp(*divmod(unix_ns, 10**9))

    def to_unix_nano(self) -> int:
        """Returns the nanoseconds since 1970."""
        return self.seconds * 10**9 + self.nanoseconds

    def to_datetime(self) -> _datetime.datetime:
        """Returns a datetime in UTC; what is finer than a microsecond is cut off."""
        micro = self.nanoseconds // 1000
        return _EPOCH + _datetime.timedelta(seconds=self.seconds, microseconds=micro)

    @staticmethod
    def from_datetime(dt: _datetime.datetime) -> Timestamp:
        """Returns the timestamp of a datetime; one without zone is local time."""
        if dt.tzinfo is None:
            dt = dt.astimezone()
        seconds, rest = divmod(dt - _EPOCH, _SECOND)
        return Timestamp(seconds, rest // _MICROSECOND * 1000)


class _Plain:
    """The conversions of a payload."""

    timestamp = Timestamp

    @staticmethod
    def ExtType(code: int, data: bytes) -> Any:  # noqa: N802
        raise ValueError("found a timestamp whose nanoseconds exceed a second")


_PLAIN = _regauge.Dialect("msgpack", _Plain)
