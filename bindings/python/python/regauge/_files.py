"""Whole files: shared by load and dump of every format."""

from __future__ import annotations

import os
from typing import Any


def read(source: Any) -> Any:
    """Returns all bytes of a path or of a file object."""
    if isinstance(source, (str, os.PathLike)):
        with open(source, "rb") as file:
            return file.read()
    if hasattr(source, "read"):
        return source.read()
    found = type(source).__name__
    raise TypeError(f"found {found}, expected a path or a file object; loads takes bytes")


def write(target: Any, data: Any) -> None:
    """Writes all bytes to a path or to a file object."""
    if isinstance(target, (str, os.PathLike)):
        with open(target, "wb") as file:
            file.write(data)
    elif hasattr(target, "write"):
        target.write(data)
    else:
        found = type(target).__name__
        raise TypeError(f"found {found}, expected a path or a file object opened for writing")
