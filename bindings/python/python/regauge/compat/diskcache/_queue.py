"""Queues in a cache: diskcache's push, pull, peek and peekitem."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from ..._store import Store
from ._keys import own_key, stored_key

# The number of the first key of a queue, and its digits.
_START, _DIGITS = 500_000_000_000_000, 15
_SIDES = {"front": False, "back": True}


def _ranges(prefix: str | None) -> list[tuple[Any, Any]]:
    """Returns where the keys of a queue lie, in order."""
    last = 10**_DIGITS - 1
    if prefix is not None:
        return [(stored_key(f"{prefix}-{1:0{_DIGITS}}"), stored_key(f"{prefix}-{last}"))]
    # In MessagePack, keys of other types lie between numbers below 128 and those above.
    return [(stored_key(1), b"\0\x80"), (b"\0\xcc", stored_key(last))]


def _end(store: Store, prefix: str | None, side: str) -> Any:
    """Returns the stored key at one side of a queue; None if it is empty."""
    reverse = _SIDES[side]
    ranges = _ranges(prefix)
    for first, after in reversed(ranges) if reverse else ranges:
        if (name := store._end_key(first, after, reverse)) is not None:
            return name
    return None


def _next_key(store: Store, prefix: str | None, side: str) -> Any:
    """Returns the key for a value that is added at one side of a queue."""
    name = _end(store, prefix, side)
    number = _START
    if name is not None:
        key = own_key(name)
        number = int(key.rpartition("-")[2] if prefix is not None else key)
        number += 1 if side == "back" else -1
        if not 0 < number < 10**_DIGITS - 1:
            raise ValueError(f"found {key!r} at the {side}, expected a key that another can follow")
    return number if prefix is None else f"{prefix}-{number:0{_DIGITS}}"


def is_alive(entry: list[Any] | None) -> bool:
    """Returns whether there is an entry that has not expired."""
    return entry is not None and (len(entry) < 2 or entry[1] is None or entry[1] > time.time())


class Queues:
    """The part of a cache that has queues."""

    _has_order: bool

    @property
    def _now(self) -> Store:
        raise NotImplementedError

    def _grew(self) -> None:
        raise NotImplementedError

    @staticmethod
    def _entry(value: Any, expire: float | None, tag: Any) -> list[Any]:
        """Returns what is stored: [value], or [value, expiry time, tag]."""
        if expire is None and tag is None:
            return [value]
        return [value, None if expire is None else time.time() + expire, tag]

    def push(
        self,
        value: Any,
        prefix: str | None = None,
        side: str = "back",
        expire: float | None = None,
        read: bool = False,
        tag: Any = None,
        retry: bool = False,
    ) -> Any:
        """Adds a value at one side of a queue, "back" or "front"; returns its key: 500000000000000 or
        next to it, after `prefix` and a hyphen if given."""
        entry = self._entry(value.read() if read else value, expire, tag)
        while True:
            key = _next_key(self._now, prefix, side)
            if self._now._swap(stored_key(key), None, entry):
                self._grew()
                return key

    def pull(
        self,
        prefix: str | None = None,
        default: Any = (None, None),
        side: str = "front",
        expire_time: bool = False,
        tag: bool = False,
        retry: bool = False,
    ) -> Any:
        """Removes a value from one side of a queue; returns its key and it, or `default`."""
        while (name := _end(self._now, prefix, side)) is not None:
            seen = self._now._seen(name)
            if seen is not None and self._now._swap(name, seen[0], None, delete=True):
                if is_alive(seen[1]):
                    return self._item((own_key(name), seen[1][0]), seen[1], expire_time, tag)
        return self._item(default, [None], expire_time, tag)

    def peek(
        self,
        prefix: str | None = None,
        default: Any = (None, None),
        side: str = "front",
        expire_time: bool = False,
        tag: bool = False,
        retry: bool = False,
    ) -> Any:
        """Returns key and value at one side of a queue, or `default`."""
        found = self._first(lambda: _end(self._now, prefix, side))
        pair, entry = (default, [None]) if found is None else found
        return self._item(pair, entry, expire_time, tag)

    def peekitem(
        self, last: bool = True, expire_time: bool = False, tag: bool = False, retry: bool = False
    ) -> Any:
        """Returns the key that was put last, or first, with its value; KeyError if there is none."""
        if not self._has_order:
            raise NotImplementedError("peekitem needs a cache in SQLite")
        first = self._now._keys_by_age
        found = self._first(lambda: next((name for _, name in first(None, last, 1)), None))
        if found is None:
            raise KeyError("dictionary is empty")
        return self._item(*found, expire_time, tag)

    def _first(self, find: Callable[[], Any]) -> tuple[Any, list[Any]] | None:
        """Returns the pair of a key and its entry; deletes those that have expired on the way."""
        while (name := find()) is not None:
            seen = self._now._seen(name)
            if seen is not None and is_alive(seen[1]):
                return (own_key(name), seen[1][0]), seen[1]
            if seen is not None:
                self._now._swap(name, seen[0], None, delete=True)
        return None

    @staticmethod
    def _item(value: Any, entry: list[Any], expire_time: bool, tag: bool) -> Any:
        """Returns a value, with its expiry time and its tag if wanted."""
        if not expire_time and not tag:
            return value
        parts = [value]
        if expire_time:
            parts.append(entry[1] if len(entry) > 1 else None)
        if tag:
            parts.append(entry[2] if len(entry) > 1 else None)
        return tuple(parts)
