"""What events gives out."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

Kind = Literal[
    "begin_document", "end_document", "begin_map", "end_map", "begin_array", "end_array", "key", "value"
]


class Event(NamedTuple):
    """A step through a document: `for kind, value in regauge.events(path)`.

    kind -- "begin_document" and "end_document" around each document; "begin_map" and "end_map" around
        its keys and values in turn, "begin_array" and "end_array" around its values; "key" and "value"
    value -- the key or the value, as loads returns it; None with any other kind

    >>> from regauge import Event
    >>> Event("key", "name").value
    'name'
    """

    kind: Kind
    value: Any = None


Event.__module__ = "regauge"
