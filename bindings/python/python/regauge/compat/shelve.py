"""Imports shelve databases into regauge's store.

    import regauge
    from regauge.compat import shelve

    shelve.adopt("shelf", regauge.Store("sqlite:objects.db", codec="msgpack"))

A shelf that is an SQLite file (dbm.sqlite3, the default of Python 3.13 and later) can also become a
collection unchanged, without copying:

    regauge.Store.adopt("sqlite:shelf", "shelf", table="Dict", assume="pickle")
"""

from __future__ import annotations

import dbm
import os
from typing import Any

from .._errors import Error
from .._store import Store

__all__ = ["adopt"]


def adopt(path: str | os.PathLike[str], store: Store) -> dict[str, Any]:
    """Copies a shelf into a store, from pickle to the collection's format. Runs nothing.

    Returns copied, refused and errors (the first hundred): a value that the format cannot hold,
    such as an object of a class, is refused and stays where it is.
    """
    copied = refused = 0
    errors: list[str] = []
    with dbm.open(os.fspath(path), "r") as shelf:
        for key in shelf.keys():
            name = key if isinstance(key, bytes) else key.encode()
            try:
                store.put_document(name, shelf[key], "pickle")
                copied += 1
            except (Error, ValueError) as error:
                refused += 1
                if len(errors) < 100:
                    errors.append(str(error))
    return {"copied": copied, "refused": refused, "errors": errors}
