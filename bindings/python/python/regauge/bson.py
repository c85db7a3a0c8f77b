"""BSON, the documents of MongoDB."""

from __future__ import annotations

from typing import Any

from . import _files, _regauge

__all__ = ["Writer", "dump", "dumps", "iter_load", "load", "loads"]

loads = _regauge.bson.loads
dumps = _regauge.bson.dumps


def load(source: Any, /, **options: Any) -> Any:
    """Returns the value in a file, given as a path or file object; takes the options of loads."""
    return loads(_files.read(source), **options)


def dump(value: Any, target: Any, /, **options: Any) -> None:
    """Writes a value to a file, given as a path or file object; takes the options of dumps."""
    _files.write(target, dumps(value, **options))


def iter_load(source: Any, /, **options: Any) -> _regauge.Documents:
    """Yields the documents of a stream one by one, in bounded memory.

    The source is a path, a file object opened in binary mode, or bytes; takes the options of loads.
    """
    return _regauge.iter_load("bson", source, options or None)


def Writer(target: Any, /, **options: Any) -> _regauge.Writer:  # noqa: N802
    """Returns a writer for a stream: `with Writer(path) as writer: writer.write(value)`.

    The target is a path or a file object opened in binary mode; takes the options of dumps.
    """
    return _regauge.writer("bson", target, options or None)
