"""A cache with the interface of diskcache's Cache, on top of regauge's store.

    from regauge.compat.diskcache import Cache

    cache = Cache("folder")
    cache.set("key", {"a": 1}, expire=60, tag="data")

Differences from diskcache 5.6:

- Values are written by a codec (pickle by default) and read without running anything: an object of
  a custom class is refused when it is stored, unless default= converts it, and types= restores it.
- Keys are str, bytes, int, float, bool, None and tuples of them; 1 and 1.0 are two keys. They are
  iterated in byte order, not in insertion order.
- eviction_policy is "least-recently-stored" or "none": a read does not write.
- There is no transact, push, pull, peek, peekitem or check, no read=True with an open file, no
  disk=, and no FanoutCache, Deque or Index. `cache.store.batch()` groups changes,
  `cache.store.verify()` checks.
- Counts of hits and misses are per process.
"""

from __future__ import annotations

import functools
import os
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from .. import _regauge
from .._errors import Error
from .._store import Store

__all__ = ["ENOVAL", "UNKNOWN", "Cache", "adopt"]


class _Constant(tuple):  # type: ignore[type-arg]
    """A name that stands for itself, as in diskcache."""

    def __new__(cls, name: str) -> _Constant:
        return tuple.__new__(cls, (name,))

    def __repr__(self) -> str:
        return str(self[0])


ENOVAL = _Constant("ENOVAL")
UNKNOWN = _Constant("UNKNOWN")

# The prefix of a stored key that is not text.
_MARK = b"\0"
_SETTINGS: dict[str, Any] = {
    "size_limit": 2**30, "cull_limit": 10, "eviction_policy": "least-recently-stored",
    "statistics": 0, "tag_index": 0,
}


def _tuples(key: Any) -> Any:
    return tuple(_tuples(one) for one in key) if isinstance(key, list) else key


def _stored_key(key: Any) -> str | bytes:
    """Returns the key for the store: text unchanged, anything else as MessagePack after a zero
    byte."""
    if type(key) is str and key[:1] != "\0":
        return key
    for one in key if isinstance(key, tuple) else (key,):
        if not isinstance(one, (str, bytes, int, float, tuple, type(None))):
            found = type(one).__name__
            raise TypeError(
                f"found {found} in a key, expected str, bytes, int, float, bool, None or a tuple of them"
            )
    return _MARK + _regauge.msgpack.dumps(key)  # type: ignore[no-any-return]


def _own_key(key: Any) -> Any:
    """Returns the caller's key."""
    data = key.encode() if isinstance(key, str) else key
    return _tuples(_regauge.msgpack.loads(data[1:])) if data[:1] == _MARK else key


def args_to_key(
    base: tuple[Any, ...],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    typed: bool,
    ignore: set[Any],
) -> tuple[Any, ...]:
    """Returns the key of a call, built the way diskcache does."""
    args = tuple(arg for index, arg in enumerate(args) if index not in ignore)
    key = base + args + (None,)
    if kwargs:
        kwargs = {name: value for name, value in kwargs.items() if name not in ignore}
        pairs = sorted(kwargs.items())
        for pair in pairs:
            key += pair
    if typed:
        key += tuple(type(arg).__name__ for arg in args)
        if kwargs:
            key += tuple(type(value).__name__ for _, value in sorted(kwargs.items()))
    return key


class Cache:
    """A cache in a folder, or in the database at a URL.

    >>> from regauge.compat.diskcache import Cache
    >>> cache = Cache("sqlite::memory:")
    >>> cache.set("a", (1, 2), expire=60, tag="numbers")
    True
    >>> cache["a"], cache.get("b", 0), cache.incr("n", 5)
    ((1, 2), 0, 5)
    >>> @cache.memoize(expire=60)
    ... def square(x):
    ...     return x * x
    >>> square(4), square(4), len(cache)
    (16, 16, 3)
    >>> cache.evict("numbers")
    1

    directory -- a folder, created if missing, or a URL for regauge.Store
    codec -- how values are stored; "pickle" preserves tuples, sets and dates
    sync -- as in regauge.Store, but False by default, as in diskcache
    size_limit, cull_limit, eviction_policy, statistics -- as in diskcache
    default, types, on_loss … -- as in regauge.Store
    """

    def __init__(
        self,
        directory: str | os.PathLike[str] | None = None,
        timeout: float = 60,
        *,
        codec: str = "pickle",
        sync: bool = False,
        **settings: Any,
    ) -> None:
        place = os.fspath(directory) if directory is not None else tempfile.mkdtemp(prefix="regauge-")
        url = place
        if "://" not in place and not place.startswith("sqlite:"):
            os.makedirs(place, exist_ok=True)
            url = f"sqlite:{os.path.join(place, 'regauge.db')}"
        self._directory, self._timeout = place, timeout
        self._settings = {name: settings.pop(name, value) for name, value in _SETTINGS.items()}
        if self._settings["eviction_policy"] not in ("least-recently-stored", "none"):
            found = self._settings["eviction_policy"]
            raise ValueError(
                f"found {found!r} as eviction_policy, expected 'least-recently-stored' or 'none'"
            )
        self.store = Store(url, "cache", codec, sync=sync, **settings)
        self._lock = threading.Lock()
        self._hits = self._misses = 0
        # Bytes added since the last count.
        self._grown: int | None = None

    @property
    def directory(self) -> str:
        """Returns the folder, or the URL."""
        return self._directory

    @property
    def timeout(self) -> float:
        """Returns the timeout as given; the store waits for other writers by itself."""
        return self._timeout

    def __getattr__(self, name: str) -> Any:
        if name in _SETTINGS:
            return self.__dict__["_settings"][name]
        raise AttributeError(f"the cache has no {name}")

    # Stored as [value], or as [value, expiry time, tag].

    @staticmethod
    def _entry(value: Any, expire: float | None, tag: Any) -> list[Any]:
        if expire is None and tag is None:
            return [value]
        return [value, None if expire is None else time.time() + expire, tag]

    @staticmethod
    def _alive(entry: list[Any] | None) -> bool:
        return entry is not None and (len(entry) < 2 or entry[1] is None or entry[1] > time.time())

    def set(
        self,
        key: Any,
        value: Any,
        expire: float | None = None,
        read: bool = False,
        tag: Any = None,
        retry: bool = False,
    ) -> bool:
        """Stores a value, which expires after this many seconds."""
        if read:
            value = value.read()
        self.store[_stored_key(key)] = self._entry(value, expire, tag)
        self._grew()
        return True

    def __setitem__(self, key: Any, value: Any) -> None:
        self.store[_stored_key(key)] = [value]
        self._grew()

    def get(
        self,
        key: Any,
        default: Any = None,
        read: bool = False,
        expire_time: bool = False,
        tag: bool = False,
        retry: bool = False,
    ) -> Any:
        """Returns the value of a key, or `default`; with expire_time or tag, a tuple that includes
        them."""
        if read:
            raise NotImplementedError("found read=True; values are not files here")
        entry = self.store.get(_stored_key(key))
        found = self._alive(entry)
        if self._settings["statistics"]:
            with self._lock:
                self._hits += found
                self._misses += not found
        if not expire_time and not tag:
            return entry[0] if found else default
        parts = [entry[0] if found else default]
        if expire_time:
            parts.append(entry[1] if found and len(entry) > 1 else None)
        if tag:
            parts.append(entry[2] if found and len(entry) > 1 else None)
        return tuple(parts)

    def __getitem__(self, key: Any) -> Any:
        found = self.get(key, ENOVAL)
        if found is ENOVAL:
            raise KeyError(key)
        return found

    def __contains__(self, key: Any) -> bool:
        return self._alive(self.store.get(_stored_key(key)))

    def __delitem__(self, key: Any) -> None:
        if not self.delete(key):
            raise KeyError(key)

    def delete(self, key: Any, retry: bool = False) -> bool:
        """Deletes a value; returns whether there was an unexpired one."""
        return self.pop(key, ENOVAL) is not ENOVAL

    def pop(
        self,
        key: Any,
        default: Any = None,
        expire_time: bool = False,
        tag: bool = False,
        retry: bool = False,
    ) -> Any:
        """Removes a value and returns it."""
        entry = self.store.pop(_stored_key(key), None)
        found = self._alive(entry)
        value = entry[0] if found else default
        if not expire_time and not tag:
            return value
        parts = [value]
        if expire_time:
            parts.append(entry[1] if found and len(entry) > 1 else None)
        if tag:
            parts.append(entry[2] if found and len(entry) > 1 else None)
        return tuple(parts)

    def add(
        self,
        key: Any,
        value: Any,
        expire: float | None = None,
        read: bool = False,
        tag: Any = None,
        retry: bool = False,
    ) -> bool:
        """Stores a value unless there is an unexpired one; returns whether it did."""
        if read:
            value = value.read()
        name, entry = _stored_key(key), self._entry(value, expire, tag)
        while True:
            seen = self.store._seen(name)
            if seen is not None and self._alive(seen[1]):
                return False
            if self.store._swap(name, None if seen is None else seen[0], entry):
                self._grew()
                return True

    def touch(self, key: Any, expire: float | None = None, retry: bool = False) -> bool:
        """Sets when a value expires; returns whether there is one."""
        name = _stored_key(key)
        while (seen := self.store._seen(name)) is not None:
            stored, entry = seen
            if not self._alive(entry):
                return False
            tag = entry[2] if len(entry) > 1 else None
            if self.store._swap(name, stored, self._entry(entry[0], expire, tag)):
                return True
        return False

    def incr(self, key: Any, delta: int = 1, default: int | None = 0, retry: bool = False) -> Any:
        """Adds to a number, atomically; a missing one starts at `default` (None: KeyError)."""
        name = _stored_key(key)

        def more(entry: list[Any] | None) -> list[Any]:
            if not self._alive(entry) or entry is None:
                if default is None:
                    raise KeyError(key)
                return [default + delta]
            return [entry[0] + delta, *entry[1:]]

        return self.store.change(name, more)[0]

    def decr(self, key: Any, delta: int = 1, default: int | None = 0, retry: bool = False) -> Any:
        """Subtracts from a number, atomically."""
        return self.incr(key, -delta, default, retry)

    def memoize(
        self,
        name: str | None = None,
        typed: bool = False,
        expire: float | None = None,
        tag: Any = None,
        ignore: Any = (),
    ) -> Callable[[Callable[..., Any]], Any]:
        """Returns a decorator that caches a function's results by its arguments."""
        if callable(name):
            raise TypeError("found a function as name; write @cache.memoize()")

        def decorate(function: Callable[..., Any]) -> Any:
            base = (name or f"{function.__module__}.{function.__qualname__}",)

            @functools.wraps(function)
            def wrapper(*args: Any, **kwargs: Any) -> Any:
                key = args_to_key(base, args, kwargs, typed, set(ignore))
                result = self.get(key, default=ENOVAL, retry=True)
                if result is ENOVAL:
                    result = function(*args, **kwargs)
                    if expire is None or expire > 0:
                        self.set(key, result, expire, tag=tag, retry=True)
                return result

            def cache_key(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
                return args_to_key(base, args, kwargs, typed, set(ignore))

            wrapper.__cache_key__ = cache_key  # type: ignore[attr-defined]
            return wrapper

        return decorate

    def _remove(self, wanted: Callable[[list[Any]], bool]) -> int:
        """Deletes the matching entries, each only if it still matches."""
        removed = 0
        for name, entry in self.store.scan():
            if wanted(entry):
                seen = self.store._seen(name)
                if seen is not None and wanted(seen[1]):
                    removed += self.store._swap(name, seen[0], None, delete=True)
        return removed

    def expire(self, now: float | None = None, retry: bool = False) -> int:
        """Deletes expired values; returns how many."""
        at = time.time() if now is None else now
        return self._remove(lambda entry: len(entry) > 1 and entry[1] is not None and entry[1] < at)

    def evict(self, tag: Any, retry: bool = False) -> int:
        """Deletes values with this tag; returns how many."""
        return self._remove(lambda entry: len(entry) > 1 and entry[2] == tag)

    def cull(self, retry: bool = False) -> int:
        """Deletes expired values and then, until the size is below the limit, the oldest ones;
        returns how many."""
        removed = self.expire()
        if self._settings["eviction_policy"] == "none":
            return removed
        left, limit = self.volume(), self._settings["size_limit"]
        if left <= limit:
            return removed
        ages = []
        for name in self.store.scan_keys():
            known = self.store.stat(name)
            if known is not None:
                ages.append((known["created"] or 0, known["stored_bytes"], name))
        ages.sort(key=lambda one: one[0])
        # Down to 90%, so that the next value does not trigger it again.
        victims = []
        for _, stored_bytes, name in ages:
            if left <= limit * 0.9:
                break
            left -= stored_bytes
            victims.append(name)
        self.store.delete_many(victims)
        return removed + len(victims)

    def _grew(self) -> None:
        """Culls if the size may exceed the limit. The bytes are counted only now and then."""
        limit = self._settings["cull_limit"]
        if not limit or self._settings["eviction_policy"] == "none":
            return
        with self._lock:
            self._grown = (self._grown or 0) + 1
            if self._grown % 1000:
                return
        if self.volume() > self._settings["size_limit"]:
            self.cull()

    def clear(self, retry: bool = False) -> int:
        """Deletes everything; returns how many values."""
        count = len(self.store)
        self.store.clear()
        return count

    def volume(self) -> int:
        """Returns the total size of all values in the database."""
        return self.store.volume()[1]

    def stats(self, enable: bool = True, reset: bool = False) -> tuple[int, int]:
        """Returns hits and misses of this process; counts them from now on if `enable` is true."""
        with self._lock:
            counted = self._hits, self._misses
            if reset:
                self._hits = self._misses = 0
            self._settings["statistics"] = int(enable)
        return counted

    def reset(self, key: str, value: Any = ENOVAL, update: bool = True) -> Any:
        """Returns the setting of this name, changing it to `value` if given."""
        if key not in self._settings:
            raise KeyError(key)
        if value is not ENOVAL:
            self._settings[key] = value
        return self._settings[key]

    def __len__(self) -> int:
        return len(self.store)

    def __iter__(self) -> Iterator[Any]:
        return (_own_key(name) for name in self.store.scan_keys())

    def __reversed__(self) -> Iterator[Any]:
        return (_own_key(name) for name in self.store.scan_keys(reverse=True))

    def iterkeys(self, reverse: bool = False) -> Iterator[Any]:
        """Yields the keys in order."""
        return reversed(self) if reverse else iter(self)

    def close(self) -> None:
        """Closes the database."""
        self.store.close()

    def __enter__(self) -> Cache:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


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
                cache.store[_stored_key(own)] = entry
                copied += 1
            except (Error, TypeError, ValueError, OSError) as error:
                refused += 1
                if len(errors) < 100:
                    errors.append(f"key {key!r}: {error}")
    finally:
        source.close()
    return {"copied": copied, "refused": refused, "errors": errors}
