"""MARCXML: records as dicts in the shape of MARC-in-JSON."""

from __future__ import annotations

from typing import Any

from .. import _files, _regauge

__all__ = ["Writer", "dump", "dumps", "iter_load", "load", "loads"]

loads = _regauge.marcxml.loads
dumps = _regauge.marcxml.dumps


def load(source: Any, /, **options: Any) -> Any:
    """Returns the records in a file as a list of dicts; takes the options of loads."""
    return loads(_files.read(source), **options)


def dump(value: Any, target: Any, /, **options: Any) -> None:
    """Writes records, as dicts, to a file; takes the options of dumps."""
    _files.write(target, dumps(value, **options))


def iter_load(source: Any, /, **options: Any) -> _regauge.Documents:
    """Yields the records of a file as dicts, one by one."""
    return _regauge.iter_load("marcxml", source, options or None)


def Writer(target: Any, /, **options: Any) -> _regauge.Writer:  # noqa: N802
    """Returns a writer of records as dicts."""
    return _regauge.writer("marcxml", target, options or None)
