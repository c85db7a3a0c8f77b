"""Whole files: shared by load and dump of every format."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from . import _regauge


def read(source: Any) -> Any:
    """Returns all bytes of a path or of a file object."""
    if isinstance(source, (str, os.PathLike)):
        with open(source, "rb") as file:
            return file.read()
    if hasattr(source, "read"):
        return source.read()
    found = type(source).__name__
    raise TypeError(f"found {found}, expected a path or a file object; loads takes bytes")


def write(target: Any, format: str, dumps: Callable[..., Any], options: dict[str, Any]) -> None:
    """Writes what dumps returns, with these options, to a path or to a file object, as bytes or as text."""
    if isinstance(target, (str, os.PathLike)):
        data = dumps(**options)
        with open(target, "wb") as file:
            file.write(_bytes(data))
    elif not hasattr(target, "write"):
        found = type(target).__name__
        raise TypeError(f"found {found}, expected a path or a file object opened for writing")
    elif not hasattr(target, "encoding"):
        target.write(_bytes(dumps(**options)))
    # A file object for text has an encoding, or a place for one.
    elif "text" in _regauge.keywords("dumps", format):
        target.write(dumps(**{**options, "text": True}))
    else:
        raise TypeError(f"found a file opened in text mode, expected one in binary mode ('wb') for {format}")


def _bytes(data: Any) -> Any:
    return data.encode() if isinstance(data, str) else data
