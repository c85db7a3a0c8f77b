"""The exceptions. Each says where, what was found, what was expected and what to do about it."""

from __future__ import annotations


class Error(Exception):
    """What every exception of regauge's own is.

    kind -- what sort of thing went wrong: "syntax", "truncated", "limit", "refused",
        "unrepresentable", "unsupported"
    offset -- bytes from the start of the input to the fault, from 0; None if there is no input
    path -- where in the document: "$.items[2].when"; None if that is not known
    record -- the number of the document in its stream, from 1; None outside of streams
    record_id -- field 001 of a MARC record
    line, column -- from 1, where the format is text
    hint -- what to do about it, as the message ends with; None if nothing is known. The keyword
        arguments that it names are those of the function that raised
    excerpt -- a few lines of the input that show the place
    key -- the key of the stored value, as text shows it; None outside of a store
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
    """The input is not what its format says, or asks for what this version does not do."""


class EncodeError(Error, TypeError, ValueError):
    """The value has no form in the format."""


class LimitError(DecodeError, EncodeError):
    """A limit was reached. The message names it and how to raise it."""


class StoreError(Error):
    """The store could not do what was asked. The next operation works, unless the message says
    otherwise.

    kind -- "engine": the database failed; "damaged": a stored value is not what was put;
        "conflict": somebody else has changed the value meanwhile; "usage": a URL, a codec, a
        collection or a key that cannot be
    passing -- whether the same call may work a moment later
    """

    passing: bool = False


for _one in (Error, DecodeError, EncodeError, LimitError, StoreError):
    _one.__module__ = "regauge"
