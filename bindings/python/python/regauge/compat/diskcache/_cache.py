"""The cache: diskcache's Cache."""

from __future__ import annotations

import contextlib
import functools
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from ..._errors import StoreError
from ..._store import Store
from ._keys import ENOVAL, Timeout, args_to_key, own_key, stored_key
from ._queue import Queues, is_alive


_SETTINGS: dict[str, Any] = {
    "size_limit": 2**30, "cull_limit": 10, "eviction_policy": "least-recently-stored",
    "statistics": 0, "tag_index": 0,
}


class Cache(Queues):
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
        # Whether the database knows in which order keys were put.
        self._has_order = url.startswith("sqlite:")
        self._settings = {name: settings.pop(name, value) for name, value in _SETTINGS.items()}
        if self._settings["eviction_policy"] not in ("least-recently-stored", "none"):
            found = self._settings["eviction_policy"]
            raise ValueError(
                f"found {found!r} as eviction_policy, expected 'least-recently-stored' or 'none'"
            )
        self._open = functools.partial(Store, url, "cache", codec, sync=sync, **settings)
        self.store = self._open()
        # What this thread's transaction uses: its own connection, while it lasts.
        self._thread = threading.local()
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

    @property
    def _now(self) -> Store:
        """Returns the connection of this thread's transaction; without one, that of all threads."""
        inside: Store | None = getattr(self._thread, "inside", None)
        return self.store if inside is None else inside

    @contextlib.contextmanager
    def transact(self, retry: bool = False) -> Iterator[None]:
        """Makes all changes in the block, or none if it raises; other writers wait meanwhile.

        A block within a block is part of it. Raises Timeout if another writer holds the database for ten
        seconds, unless `retry` is true. For SQLite files.

        >>> from regauge.compat.diskcache import Cache
        >>> cache = Cache()
        >>> with cache.transact():
        ...     total, count = cache.incr("total", 5), cache.incr("count")
        >>> total, count
        (5, 1)
        """
        if getattr(self._thread, "inside", None) is not None:
            yield
            return
        if not self._has_order or self.store._is_temporary():
            raise NotImplementedError("transact needs a cache in a folder, or in an SQLite file")
        if not hasattr(self._thread, "spare"):
            self._thread.spare = self._open()
        store: Store = self._thread.spare
        self._begin(store, retry)
        self._thread.inside = store
        done = False
        try:
            yield
            store._end(True)
            done = True
        finally:
            self._thread.inside = None
            if not done:
                # Closing undoes the changes. The next transaction looks again at what there is.
                del self._thread.spare
                store.close()

    @staticmethod
    def _begin(store: Store, retry: bool) -> None:
        while True:
            try:
                store._begin()
                return
            except StoreError as error:
                if not error.passing:
                    raise
                if not retry:
                    raise Timeout(str(error)) from error

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
        self._now[stored_key(key)] = self._entry(value, expire, tag)
        self._grew()
        return True

    def __setitem__(self, key: Any, value: Any) -> None:
        self._now[stored_key(key)] = [value]
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
        entry = self._now.get(stored_key(key))
        found = is_alive(entry)
        if self._settings["statistics"]:
            with self._lock:
                self._hits += found
                self._misses += not found
        if not found or entry is None:
            return self._item(default, [None], expire_time, tag)
        return self._item(entry[0], entry, expire_time, tag)

    def __getitem__(self, key: Any) -> Any:
        found = self.get(key, ENOVAL)
        if found is ENOVAL:
            raise KeyError(key)
        return found

    def __contains__(self, key: Any) -> bool:
        return is_alive(self._now.get(stored_key(key)))

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
        entry = self._now.pop(stored_key(key), None)
        found = is_alive(entry)
        if not found or entry is None:
            return self._item(default, [None], expire_time, tag)
        return self._item(entry[0], entry, expire_time, tag)

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
        name, entry = stored_key(key), self._entry(value, expire, tag)
        while True:
            seen = self._now._seen(name)
            if seen is not None and is_alive(seen[1]):
                return False
            if self._now._swap(name, None if seen is None else seen[0], entry):
                self._grew()
                return True

    def touch(self, key: Any, expire: float | None = None, retry: bool = False) -> bool:
        """Sets when a value expires; returns whether there is one."""
        name = stored_key(key)
        while (seen := self._now._seen(name)) is not None:
            stored, entry = seen
            if not is_alive(entry):
                return False
            tag = entry[2] if len(entry) > 1 else None
            if self._now._swap(name, stored, self._entry(entry[0], expire, tag)):
                return True
        return False

    def incr(self, key: Any, delta: int = 1, default: int | None = 0, retry: bool = False) -> Any:
        """Adds to a number, atomically; a missing one starts at `default` (None: KeyError)."""
        name = stored_key(key)

        def more(entry: list[Any] | None) -> list[Any]:
            if not is_alive(entry) or entry is None:
                if default is None:
                    raise KeyError(key)
                return [default + delta]
            return [entry[0] + delta, *entry[1:]]

        return self._now.change(name, more)[0]

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
        for name, entry in self._now.scan():
            if wanted(entry):
                seen = self._now._seen(name)
                if seen is not None and wanted(seen[1]):
                    removed += self._now._swap(name, seen[0], None, delete=True)
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
        for name in self._now.scan_keys():
            known = self._now.stat(name)
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
        self._now.delete_many(victims)
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
        count = len(self._now)
        self._now.clear()
        return count

    def volume(self) -> int:
        """Returns the total size of all values in the database."""
        return self._now.volume()[1]

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
        return len(self._now)

    def _by_age(self, reverse: bool) -> Iterator[Any]:
        place: int | None = None
        while page := self._now._keys_by_age(place, reverse, 1000):
            yield from (own_key(name) for _, name in page)
            place = page[-1][0]

    def __iter__(self) -> Iterator[Any]:
        return self._by_age(False) if self._has_order else self.iterkeys()

    def __reversed__(self) -> Iterator[Any]:
        return self._by_age(True) if self._has_order else self.iterkeys(reverse=True)

    def iterkeys(self, reverse: bool = False) -> Iterator[Any]:
        """Yields the keys in the order of their bytes."""
        return (own_key(name) for name in self._now.scan_keys(reverse=reverse))

    def close(self) -> None:
        """Closes the database."""
        if hasattr(self._thread, "spare"):
            self._thread.spare.close()
        self.store.close()

    def __enter__(self) -> Cache:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()
