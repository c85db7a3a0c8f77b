"""msgpack's exceptions."""

from __future__ import annotations

from typing import Any

from ..._errors import DecodeError


class UnpackException(Exception):
    """Base class of some exceptions of unpacking; others are plain ValueErrors."""


class BufferFull(UnpackException):
    """More data than max_buffer_size waits to be unpacked."""


class OutOfData(UnpackException):
    """The data ends within a value."""


class FormatError(ValueError, UnpackException):
    """The data is not MessagePack."""


class StackError(ValueError, UnpackException):
    """The data is nested too deeply."""


UnpackValueError = ValueError
PackException = Exception
PackValueError = ValueError
PackOverflowError = OverflowError


class ExtraData(UnpackValueError):
    """Bytes follow the value.

    unpacked -- the value
    extra -- the bytes
    """

    def __init__(self, unpacked: Any, extra: bytes) -> None:
        self.unpacked = unpacked
        self.extra = extra

    def __str__(self) -> str:
        return "unpack(b) received extra data."


def translated(error: DecodeError) -> Exception:
    """Returns msgpack's exception for one of regauge's, with its message."""
    if error.kind == "limit":
        return StackError(str(error))
    if error.kind == "truncated":
        return ValueError(f"Unpack failed: incomplete input; {error}")
    if error.kind == "syntax":
        return FormatError(str(error))
    return ValueError(str(error))
