"""The exceptions. Each says where, what was found, what was expected, and what to do about it."""

from __future__ import annotations

import sys
import warnings


class Error(Exception):
    """The base class of regauge's exceptions.

    kind -- what sort of thing went wrong: "syntax", "truncated", "limit", "refused",
        "unrepresentable", "unsupported"
    offset -- position of the error in bytes from the start, 0-based; None without input
    path -- position in the document: "$.items[2].when"; None if unknown
    record -- number of the document in its stream, 1-based; None outside of streams
    record_id -- field 001 of a MARC record
    line, column -- 1-based, for text formats
    hint -- what to do about it, also at the end of the message; None if nothing is known. The
        keyword arguments it names are those of the function that raised
    excerpt -- a few lines of the input around the error
    key -- key of the stored value, as text; None outside of a store
    """

    kind: str = ""
    offset: int | None = None
    path: str | None = None
    record: int | None = None
    record_id: str | None = None
    line: int | None = None
    column: int | None = None
    hint: str | None = None
    excerpt: str | None = None
    key: str | None = None


class DecodeError(Error, ValueError):
    """The input does not match its format, or uses something that this version does not support."""


class EncodeError(Error, TypeError, ValueError):
    """The format cannot represent the value."""


class LimitError(DecodeError, EncodeError):
    """A limit was reached. The message names it and says how to raise it."""


class StoreError(Error):
    """The store could not do what was asked. The next operation works, unless the message says
    otherwise.

    kind -- "engine": the database failed; "damaged": a stored value is not what was put;
        "conflict": another writer has changed the value meanwhile; "usage": an invalid URL, codec,
        collection or key
    passing -- whether the same call may succeed a moment later
    """

    passing: bool = False


def deprecated(name: str, instead: str) -> None:
    """Warns the caller of regauge that it uses an old name of an option."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == "regauge":
        level, frame = level + 1, frame.f_back
    message = f"{name} is now {instead}; the old name will go away"
    warnings.warn(message, DeprecationWarning, stacklevel=level)


for _one in (Error, DecodeError, EncodeError, LimitError, StoreError):
    _one.__module__ = "regauge"
