"""Whole files: shared by load and dump of every format."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Callable
from typing import Any

from . import _regauge


def read(source: Any) -> Any:
    """Returns all bytes of a path or of a file object."""
    if isinstance(source, (str, os.PathLike)):
        with open(source, "rb") as file:
            return file.read()
    if isinstance(source, io.RawIOBase):
        # Its `read` without a size returns what is there if the rest is yet to come.
        return b"".join(iter(lambda: _piece(source), b""))
    if hasattr(source, "read"):
        return source.read()
    found = type(source).__name__
    raise TypeError(f"found {found}, expected a path or a file object; loads takes bytes")


def _piece(source: Any) -> Any:
    piece = source.read(1 << 16)
    if piece is None:
        raise not_ready("nothing to read yet")
    return piece


def not_ready(why: str, written: int = 0) -> BlockingIOError:
    """Returns the error for a non-blocking file that would block."""
    message = f"found a non-blocking file with {why}, expected one that blocks"
    return BlockingIOError(errno.EAGAIN, message, written)


def write_all(file: Any, data: Any) -> None:
    """Writes all of some bytes to a file object that may take a part of them at a time, such as one without a buffer."""
    at, size = 0, len(data)
    while at < size:
        count = file.write(memoryview(data)[at:] if at else data)
        if count is None:
            if isinstance(file, io.RawIOBase):
                raise not_ready("no room left", at)
            # What is no file of Python's has written everything.
            return
        if not isinstance(count, int) or not 0 < count <= size - at:
            raise OSError(f"found a write() that returned {count!r} for {size - at} bytes, expected how many it wrote")
        at += count


def write(target: Any, format: str, dumps: Callable[..., Any], options: dict[str, Any]) -> None:
    """Writes what dumps returns, with these options, to a path or to a file object, as bytes or as text."""
    if isinstance(target, (str, os.PathLike)):
        data = dumps(**options)
        with open(target, "wb") as file:
            write_all(file, _bytes(data))
    elif not hasattr(target, "write"):
        found = type(target).__name__
        raise TypeError(f"found {found}, expected a path or a file object opened for writing")
    elif not hasattr(target, "encoding"):
        write_all(target, _bytes(dumps(**options)))
    # A file object for text has an encoding, or a place for one.
    elif "text" in _regauge.keywords("dumps", format):
        target.write(dumps(**{**options, "text": True}))
    else:
        raise TypeError(f"found a file opened in text mode, expected one in binary mode ('wb') for {format}")


def _bytes(data: Any) -> Any:
    return data.encode() if isinstance(data, str) else data
