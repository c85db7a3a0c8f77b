"""One API over sixteen formats: JSON, NDJSON, YAML, TOML, CSV, TSV, MessagePack, BSON, CBOR, Ruby's
Marshal, pickle, MARC 21, MARCXML, MARC-in-JSON, MARCMaker and Aleph sequential.

Every format is a module with loads, dumps, load, dump, iter_load and Writer:

>>> import regauge
>>> regauge.msgpack.dumps(regauge.json.loads('{"a": [1, 2.5]}'))
b'\\x81\\xa1a\\x92\\x01\\xcb@\\x04\\x00\\x00\\x00\\x00\\x00\\x00'

An option of a format, such as YAML's schema, is schema= in the format's module, and yaml_schema= in
the functions of this module.

What a format cannot hold is refused, never silently lost (unless on_loss= says otherwise); nothing
that the data names is imported, constructed or called; every reader has limits.
"""

from __future__ import annotations

import importlib as _importlib
import os as _os
import sys as _sys
from collections.abc import Callable
from functools import partial as _partial
from typing import TYPE_CHECKING, Any

if _sys.implementation.name != "cpython":
    raise ImportError(
        f"found {_sys.implementation.name}, which lacks the C API that regauge needs; "
        "use CPython 3.10 or later, or the command: regauge convert, regauge inspect"
    )

from . import _files, _regauge
from . import bson, cbor, csv, json, marshal, msgpack, ndjson, pickle, toml, tsv, yaml
from ._errors import DecodeError, EncodeError, Error, LimitError, StoreError
from ._regauge import FORMATS, Documents, Events, Writer, __version__, detect
from ._types import OMIT

if TYPE_CHECKING:
    from . import marc
    from ._arrow import to_arrow
    from ._async_store import AsyncBatch, AsyncStore
    from ._events import Event
    from ._series import Series
    from ._store import Batch, Store
    from ._values import (
        MAX_KEY,
        MIN_KEY,
        UNDEFINED,
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
        Symbol,
        Timestamp,
    )

__all__ = [
    "FORMATS", "MAX_KEY", "MIN_KEY", "OMIT", "UNDEFINED",
    "AsyncBatch", "AsyncStore", "Batch", "Binary", "BrokenText", "BsonTimestamp", "Code",
    "DbPointer", "Decimal128", "DecodeError", "Documents", "Duration", "EncodeError", "Envelope", "Error",
    "Event", "Events", "ExtType", "LimitError", "Moment", "Object", "ObjectId", "Regex", "Series", "Simple", "Store",
    "StoreError", "Symbol", "Timestamp", "Writer", "__version__",
    "bson", "cbor", "convert", "convert_bytes", "csv", "detect", "dump", "dumps", "events", "inspect", "iter_load",
    "json", "load", "loads", "marc", "marshal", "msgpack", "ndjson", "open_envelope", "open_writer", "parse_events", "pickle",
    "to_arrow", "toml", "tsv", "yaml",
]

# Names that are imported on first use: a program that loads one YAML file does not wait for MARC records, stores and
# dataclasses. Those without a row here are in `_values`.
_MODULES = {
    "AsyncBatch": "_async_store", "AsyncStore": "_async_store", "Batch": "_store", "Envelope": "_envelopes",
    "Event": "_events", "Series": "_series", "Store": "_store", "open_envelope": "_envelopes", "to_arrow": "_arrow",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "marc":
        return _importlib.import_module(".marc", __name__)
    module = _importlib.import_module(f".{_MODULES.get(name, '_values')}", __name__)
    found = globals()[name] = getattr(module, name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def loads(data: Any, /, format: str | None = None, **options: Any) -> Any:
    """Returns the value in `data`; without a format, detects it from the first bytes.

    Takes the options of every format's loads, with the format's name in front (yaml_schema='1.1');
    those of other formats have no effect.

    >>> import regauge
    >>> regauge.loads(b'\\x81\\xa1a\\x01')
    {'a': 1}
    """
    if format is None:
        format = detect(data)
        if format is None:
            raise DecodeError(f"found no format in the first bytes; pass one of {', '.join(FORMATS)}")
    return _regauge.loads_as(format, data, options or None)


def dumps(value: Any, /, format: str, **options: Any) -> Any:
    """Encodes a value in a format. Takes the options of its dumps, with its name in front.

    >>> import regauge
    >>> regauge.dumps([1, 2], 'yaml')
    b'- 1\\n- 2\\n'
    """
    return _regauge.dumps_as(format, value, options or None)


def _of(source: Any, format: str | None, reads: bool) -> str:
    """Returns the format of that name, or the one that a path implies."""
    if format is not None:
        return format
    if isinstance(source, (str, _os.PathLike)):
        path = _os.fspath(source)
        found = _regauge.detect_path(path) if reads else _regauge.format_of_name(_os.path.basename(path))
        if found is not None:
            return found
    elif reads and not hasattr(source, "read"):
        found = detect(source)
        if found is not None:
            return found
        raise DecodeError(f"found no format in the first bytes; pass one of {', '.join(FORMATS)}")
    raise ValueError(f"found no format in the file's name; pass one of {', '.join(FORMATS)}")


def load(source: Any, /, format: str | None = None, **options: Any) -> Any:
    """Returns the value in a file; the format defaults to that of its name or first bytes."""
    data = _files.read(source)
    if format is None and isinstance(source, (str, _os.PathLike)):
        format = _regauge.format_of_name(_os.path.basename(_os.fspath(source)))
    return loads(data, format, **options)


def dump(value: Any, target: Any, /, format: str | None = None, **options: Any) -> None:
    """Writes a value to a file; the format defaults to that of the file's name. A file object opened in text
    mode gets text, if the format has text=."""
    name = _of(target, format, reads=False)
    _files.write(target, name, _partial(dumps, value, name), options)


def iter_load(source: Any, /, format: str | None = None, **options: Any) -> Documents:
    """Yields the documents of a file one by one, in bounded memory."""
    return _regauge.iter_load(_of(source, format, reads=True), source, options or None, True)


def events(source: Any, /, format: str | None = None, **options: Any) -> Events:
    """Yields the events of a stream one by one, in bounded memory; no dict or list is built.

    >>> import regauge
    >>> for kind, value in regauge.events(b'{"a": [1, null]}'):
    ...     print(kind, value)
    begin_document None
    begin_map None
    key a
    begin_array None
    value 1
    value None
    end_array None
    end_map None
    end_document None

    The source is a path, a file object opened in binary mode (then pass a format), or bytes. Takes
    the options of loads, except object_hook and object_pairs_hook. Keys and values are those that
    loads returns; a value of a type that Python or the format names (a tuple of a pickle, a tag) is
    one event. A key that occurs twice in one map is there twice, unless duplicate_keys='refuse'.
    The iterator's skip() passes over the value of the latest key, or the rest of what has begun.
    """
    return _regauge.events(_of(source, format, reads=True), source, options or None, True)


def parse_events(
    source: Any, handler: object, /, format: str | None = None, **options: Any
) -> None:
    """Calls the methods of a handler with the events of a stream, in bounded memory.

    The methods are named after the kinds of events: begin_document, end_document, begin_map, end_map,
    begin_array, end_array without an argument, key and value with one. Those that the handler lacks
    are left out, and no object is made for them. What a method raises ends the parsing.

    >>> import regauge
    >>> class Keys(list):
    ...     key = list.append
    >>> keys = Keys()
    >>> regauge.parse_events(b'{"a": {"b": 1}, "c": []}', keys)
    >>> keys
    ['a', 'b', 'c']
    """
    _regauge.parse_events(_of(source, format, reads=True), source, handler, options or None, True)


def open_writer(target: Any, /, format: str | None = None, **options: Any) -> Writer:
    """Returns a writer that writes documents to a file."""
    return _regauge.writer(_of(target, format, reads=False), target, options or None, True)


def convert(
    source: str | _os.PathLike[str],
    target: str | _os.PathLike[str],
    /,
    *,
    from_: str | None = None,
    to: str | None = None,
    map: Callable[[Any], Any] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Converts a file to another format, in bounded memory and without Python objects.

    Other threads run meanwhile. Returns a summary: documents, bad_records, exact, losses. Takes the
    options of loads and dumps, and documents= ('keep', 'split', 'join'), bad= ('stop', 'skip'),
    json_extended= ('canonical', 'relaxed'), jobs= (threads), report=. only= and drop= are lists of
    paths such as 'items[*].price', rename= a dict from paths to new names; the summary then has the
    paths that matched nothing, unmatched. head= and sample= (with seed=) take some of the documents.
    envelope= ('auto', 'none', 'open', 'keep') is how to treat the envelope that a framework put around it. With the
    application's secret=, its signature is checked or it is decrypted; salt= is what the application signs with.

    map= is a function that is called with each document, as loads returns it, and returns the one to
    write, or OMIT to leave it out. A document that it returns as it was goes through as it was read. Keys
    that are equal in Python (1 and True) are refused, or duplicate_keys='last' gives it the last of them.
    """
    return _regauge.convert_file(source, target, from_, to, options or None, map)


def convert_bytes(
    data: Any, /, from_: str | None, to: str, *, map: Callable[[Any], Any] | None = None, **options: Any
) -> bytes:
    """Converts bytes to another format; from_ may be None if their first bytes tell it. map=,
    envelope=, secret= and salt= are those of convert.

    >>> import regauge
    >>> regauge.convert_bytes(b'{"a": [1, 2]}', 'json', 'yaml')
    b'a:\\n- 1\\n- 2\\n'
    >>> regauge.convert_bytes(b'{"a": 1}', 'json', 'yaml', map=lambda it: {**it, 'b': 2})
    b'a: 1\\nb: 2\\n'
    """
    return _regauge.convert_bytes(data, from_, to, options or None, map)


def inspect(
    path: str | _os.PathLike[str], /, format: str | None = None, **options: Any
) -> dict[str, Any]:
    """Describes a file: documents, depth, kinds, types, and every path with its kinds and size."""
    return _regauge.inspect_file(path, format, options or None)
