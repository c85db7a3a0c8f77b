"""Imports diskcache folders."""

from __future__ import annotations

import os
import sqlite3
from typing import Any

from ... import _regauge
from ..._errors import Error
from ._cache import Cache
from ._keys import stored_key

# The storage modes of diskcache, in the column "mode".
_RAW, _BINARY, _TEXT, _PICKLE = 1, 2, 3, 4


def adopt(directory: str | os.PathLike[str], cache: Cache) -> dict[str, Any]:
    """Copies a diskcache folder into a cache, without running anything in its pickles.

    Expiry times and tags are copied too. Returns copied, refused and errors (the first hundred): a
    value that the codec cannot hold, such as an object of a class, is refused and stays where it
    is.
    """
    folder = os.fspath(directory)
    path = os.path.join(folder, "cache.db")
    if not os.path.exists(path):
        raise FileNotFoundError(f"found no {path}, expected a diskcache folder")
    loads = _regauge.pickle.loads
    copied = refused = 0
    errors: list[str] = []
    source = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        rows = source.execute(
            "SELECT key, raw, expire_time, tag, mode, filename, value FROM Cache ORDER BY rowid"
        )
        for key, raw, expire_time, tag, mode, filename, value in rows:
            try:
                own = key if raw else loads(key)
                if filename is not None:
                    with open(os.path.join(folder, filename), "rb") as file:
                        value = file.read()
                    if mode == _TEXT:
                        value = value.decode()
                if mode == _PICKLE:
                    value = loads(value)
                entry = [value] if expire_time is None and tag is None else [value, expire_time, tag]
                cache.store[stored_key(own)] = entry
                copied += 1
            except (Error, TypeError, ValueError, OSError) as error:
                refused += 1
                if len(errors) < 100:
                    errors.append(f"key {key!r}: {error}")
    finally:
        source.close()
    return {"copied": copied, "refused": refused, "errors": errors}
