"""A cache with the face of diskcache's Cache, over regauge's store.

    from regauge.compat.diskcache import Cache

    cache = Cache("folder")
    cache.set("key", {"a": 1}, expire=60, tag="data")

What differs from diskcache 5.6:

- Values are written by a codec (pickle, if no other is named) and read without running anything:
  an object of a class of one's own is refused when it is put, unless default= says what it is, and
  types= makes it again.
- Keys are str, bytes, int, float, bool, None and tuples of them; 1 and 1.0 are two keys. They are
  walked in the order of their bytes, not in that in which they came.
- eviction_policy is "least-recently-stored" or "none": a read does not write.
- There is no transact, push, pull, peek, peekitem or check, no read=True with an open file, no
  disk=, and no FanoutCache, Deque or Index. `cache.store.batch()` makes changes together,
  `cache.store.verify()` checks.
- Counts of hits and misses are those of this process.
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
    """A name that stands for itself, as diskcache has them."""

    def __new__(cls, name: str) -> _Constant:
        return tuple.__new__(cls, (name,))

    def __repr__(self) -> str:
        return str(self[0])


ENOVAL = _Constant("ENOVAL")
UNKNOWN = _Constant("UNKNOWN")

# What begins the stored form of a key that is not text.
_MARK = b"\0"
_SETTINGS: dict[str, Any] = {
    "size_limit": 2**30, "cull_limit": 10, "eviction_policy": "least-recently-stored",
    "statistics": 0, "tag_index": 0,
}


def _tuples(key: Any) -> Any:
    return tuple(_tuples(one) for one in key) if isinstance(key, list) else key


def _stored_key(key: Any) -> str | bytes:
    """The key in the store: text as it is, anything else as MessagePack behind a zero byte."""
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
    """The key that the caller gave."""
    data = key.encode() if isinstance(key, str) else key
    return _tuples(_regauge.msgpack.loads(data[1:])) if data[:1] == _MARK else key


def args_to_key(
    base: tuple[Any, ...],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    typed: bool,
    ignore: set[Any],
) -> tuple[Any, ...]:
    """The key of a call: as diskcache makes it."""
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
    """A cache in a folder, or in the database of a URL.

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

    directory -- a folder, made if it is not there, or a URL as regauge.Store takes it
    codec -- how values are stored; "pickle" keeps tuples, sets and dates what they are
    sync -- as in regauge.Store; False here, as diskcache has it
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
        # What was added since the bytes were counted last.
        self._grown: int | None = None

    @property
    def directory(self) -> str:
        """The folder, or the URL."""
        return self._directory

    @property
    def timeout(self) -> float:
        """As it was given; the store waits for another writer by itself."""
        return self._timeout

    def __getattr__(self, name: str) -> Any:
        if name in _SETTINGS:
            return self.__dict__["_settings"][name]
        raise AttributeError(f"the cache has no {name}")

    # What is stored is [value], or [value, when it expires, its tag].

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
        """Puts a value, which expires after so many seconds."""
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
        """The value of a key, or `default`; with expire_time or tag a tuple with these behind it."""
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
        """Deletes a value; tells whether there was one that had not expired."""
        return self.pop(key, ENOVAL) is not ENOVAL

    def pop(
        self,
        key: Any,
        default: Any = None,
        expire_time: bool = False,
        tag: bool = False,
        retry: bool = False,
    ) -> Any:
        """Takes a value out of the cache."""
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
        """Puts a value if there is none that has not expired; tells whether it did."""
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
        """Sets when a value expires; tells whether there is one."""
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
        """Adds to a number, atomically; one that is not there is `default` (None: KeyError)."""
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
        """A decorator that keeps what a function gives for its arguments."""
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
        """Deletes the entries that are wanted gone, each only if it is still so."""
        removed = 0
        for name, entry in self.store.scan():
            if wanted(entry):
                seen = self.store._seen(name)
                if seen is not None and wanted(seen[1]):
                    removed += self.store._swap(name, seen[0], None, delete=True)
        return removed

    def expire(self, now: float | None = None, retry: bool = False) -> int:
        """Deletes what has expired; gives how many that were."""
        at = time.time() if now is None else now
        return self._remove(lambda entry: len(entry) > 1 and entry[1] is not None and entry[1] < at)

    def evict(self, tag: Any, retry: bool = False) -> int:
        """Deletes what has this tag; gives how many that were."""
        return self._remove(lambda entry: len(entry) > 1 and entry[2] == tag)

    def cull(self, retry: bool = False) -> int:
        """Deletes what has expired and then, until the size is below the limit, what was stored
        first; gives how many that were."""
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
        # To nine tenths, so that the next value does not set it off again.
        victims = []
        for _, stored_bytes, name in ages:
            if left <= limit * 0.9:
                break
            left -= stored_bytes
            victims.append(name)
        self.store.delete_many(victims)
        return removed + len(victims)

    def _grew(self) -> None:
        """Culls when the size may be beyond the limit. The bytes are counted now and then only."""
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
        """Deletes everything; gives how many values that were."""
        count = len(self.store)
        self.store.clear()
        return count

    def volume(self) -> int:
        """The bytes of all values in the database."""
        return self.store.volume()[1]

    def stats(self, enable: bool = True, reset: bool = False) -> tuple[int, int]:
        """Hits and misses of this process, counted from now on if `enable`."""
        with self._lock:
            counted = self._hits, self._misses
            if reset:
                self._hits = self._misses = 0
            self._settings["statistics"] = int(enable)
        return counted

    def reset(self, key: str, value: Any = ENOVAL, update: bool = True) -> Any:
        """The setting of this name, which is `value` from now on."""
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
        """The keys in order."""
        return reversed(self) if reverse else iter(self)

    def close(self) -> None:
        """Closes the database."""
        self.store.close()

    def __enter__(self) -> Cache:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


# How diskcache stores a value, in the column "mode".
_RAW, _BINARY, _TEXT, _PICKLE = 1, 2, 3, 4


def adopt(directory: str | os.PathLike[str], cache: Cache) -> dict[str, Any]:
    """Copies a folder of diskcache's into a cache, without running anything of its pickles.

    Expiry and tags come along. Gives copied, refused and errors (the first hundred): a value that
    the codec cannot hold, such as an object of a class, is refused and stays where it is.
    """
    folder = os.fspath(directory)
    path = os.path.join(folder, "cache.db")
    if not os.path.exists(path):
        raise FileNotFoundError(f"found no {path}, expected a folder of diskcache")
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
