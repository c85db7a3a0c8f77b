"""The object store: a database as a mapping of keys to values."""

from __future__ import annotations

import random
import time as _time
from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, MutableMapping, ValuesView
from types import TracebackType
from typing import Any, Union

from . import _regauge
from ._series import Series

Key = Union[str, bytes]
_NOTHING: Any = object()


class Store(_regauge.Store, MutableMapping[Any, Any]):
    """A collection in a database, as a mapping of keys (str or bytes) to values.

    >>> import regauge
    >>> store = regauge.Store("sqlite::memory:", codec="json")
    >>> store["user/17"] = {"name": "Ada", "tags": ["a", "b"]}
    >>> store["user/17"]
    {'name': 'Ada', 'tags': ['a', 'b']}
    >>> store.put_many({"user/18": {"name": "Bo"}, "note": [1, 2.5]})
    2
    >>> list(store.scan(prefix="user/", reverse=True))
    [('user/18', {'name': 'Bo'}), ('user/17', {'name': 'Ada', 'tags': ['a', 'b']})]
    >>> with store.batch() as batch:
    ...     batch["user/19"] = {"name": "Cy"}
    ...     del batch["note"]
    >>> len(store), "note" in store
    (3, False)

    url -- "sqlite:PATH"; "postgres://…" and others if they are compiled in
    collection -- its name: a table of the database, created when the first value is stored
    codec -- how new values are stored: "msgpack" (the default), "json+zstd", "pickle" …; an
        existing collection keeps its own
    keys -- the type of keys when iterating: "text" (keys that are not UTF-8 are returned as bytes)
        or "bytes"
    sync -- whether each change is on disk before the call returns; with False the last ones may be
        lost in a power failure, as with diskcache
    limits, on_loss, objects, default, sort_keys, duplicate_keys, object_hook, object_pairs_hook,
    ext_hook, tag_hook, types -- as in loads and dumps
    unwrap -- as in loads; by default what on_loss="wrap" wrote is unwrapped

    Values are returned the way the codec's format represents them: a tuple stored in MessagePack
    becomes a list. A value that the format cannot hold raises EncodeError, and nothing is stored.
    Every value has a checksum: one that has changed in the database raises StoreError, which names
    the key.

    Threads may share a store. Other threads run while the database works.
    """

    # Comparing would read both databases in full.
    __eq__ = object.__eq__
    __hash__ = object.__hash__  # pyright: ignore[reportAssignmentType]

    def items(self) -> ItemsView[Any, Any]:
        """Returns a view of keys and values; values are fetched many at a time."""
        return _Items(self)

    def values(self) -> ValuesView[Any]:
        """Returns a view of the values, fetched many at a time."""
        return _Values(self)

    def put(self, key: Key, value: Any) -> None:
        """Stores a value, replacing an existing one: `store[key] = value`."""
        self[key] = value

    def update(self, other: Any = (), /, **more: Any) -> None:
        """Stores many values in one transaction."""
        self.put_many(other)
        if more:
            self.put_many(more)

    def add(self, key: Key, value: Any) -> bool:
        """Stores a value unless the key exists; returns whether it did."""
        return self._swap(key, None, value)

    def setdefault(self, key: Key, default: Any = None) -> Any:
        """Returns the value of a key, storing `default` first if there is none."""
        while True:
            found = self.get(key, _NOTHING)
            if found is not _NOTHING:
                return found
            if self.add(key, default):
                return self[key]

    def pop(self, key: Key, default: Any = _NOTHING) -> Any:
        """Removes a value and returns it."""
        while (seen := self._seen(key)) is not None:
            stored, value = seen
            if self._swap(key, stored, None, delete=True):
                return value
        if default is _NOTHING:
            raise KeyError(key)
        return default

    def change(self, key: Key, function: Callable[[Any], Any], default: Any = None) -> Any:
        """Replaces a value by the result of `function(value or default)`, and returns that.

        If another writer changes the value meanwhile, `function` is called again with the new one.

        >>> import regauge
        >>> store = regauge.Store("sqlite::memory:")
        >>> store.change("visits", lambda count: count + 1, default=0)
        1
        """
        tries = 0
        while True:
            seen = self._seen(key)
            stored, value = (None, default) if seen is None else seen
            new = function(value)
            if self._swap(key, stored, new):
                return new
            tries += 1
            if tries > 8:
                # With many writers on one key, avoid all retrying at the same moment.
                _time.sleep(random.random() * min(0.05, 0.0001 * 2**tries))

    def clear(self) -> None:
        """Deletes all values."""
        while keys := [key for _, key in zip(range(1000), self.scan_keys())]:
            self.delete_many(keys)

    def batch(self) -> Batch:
        """Groups changes: all are made at the end of the `with`, or none."""
        return Batch(self)

    def series(self, name: str, bucket: Any = None) -> Series:
        """Returns a time series: see regauge.Series."""
        return Series(self, name) if bucket is None else Series(self, name, bucket)

    def verify(
        self,
        *,
        prefix: str | bytes | None = None,
        on_bad: Callable[[Exception], Any] | None = None,
    ) -> dict[str, Any]:
        """Verifies every value: its checksum, and the whole document with its format's reader.

        Returns a summary: values, bad (damaged or undecodable), bare (without an envelope),
        stored_bytes, document_bytes, codecs (values and bytes of each), and errors, the text of the
        first hundred. If given, `on_bad` is called with the exception for each bad value instead.

        >>> import regauge
        >>> store = regauge.Store("sqlite::memory:")
        >>> store["a"] = [1, 2]
        >>> found = store.verify()
        >>> found["values"], found["bad"], found["codecs"]
        (1, 0, {'msgpack': (1, 19)})
        """
        return self._verify(prefix, on_bad)

    def reencode(
        self,
        to: str,
        *,
        dry_run: bool = False,
        rate: float | None = None,
        on_refused: Callable[[Exception], Any] | None = None,
        progress: Callable[[int, int], Any] | None = None,
    ) -> dict[str, Any]:
        """Moves every value to another codec, while others read and write.

        With dry_run nothing is changed: the saving is measured, and what would be refused is
        reported. `rate`, above 0, limits the values per second. Returns values, changed, already, overtaken,
        refused, bytes_before, bytes_after, resumed and errors. An interrupted run resumes where it
        stopped.
        """
        return self._reencode(to, dry_run, rate, on_refused, progress)

    @classmethod
    def adopt(
        cls,
        url: str,
        collection: str,
        *,
        table: str,
        key_column: str = "key",
        value_column: str = "value",
        key_kind: str = "bytes",
        assume: str = "pickle",
        text: bool = False,
        codec: str | None = None,
        **options: Any,
    ) -> Store:
        """Adopts another program's table as a collection, unchanged, and opens it.

        Nothing in the table is changed. Its values have no envelope, and `assume` gives their
        encoding: "pickle", "marshal", "base64:marshal", "yaml" … Values stored from then on have an
        envelope.
        """
        _regauge.adopt(
            url, collection, table, key_column, value_column, key_kind, assume, text, codec
        )
        return cls(url, collection, **options)

    @staticmethod
    def collections(url: str) -> list[str]:
        """Returns the names of the collections in a database."""
        return _regauge.collections(url)


class _Items(ItemsView[Any, Any]):
    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._store = store

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return self._store.scan()


class _Values(ValuesView[Any]):
    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._store = store

    def __iter__(self) -> Iterator[Any]:
        return (value for _, value in self._store.scan())


class Batch:
    """Changes collected until the end of the `with`, and then made in one transaction.

    A value is encoded when it is added, so a value that cannot be stored raises there, and later
    changes to the object have no effect. If the block raises, nothing is changed.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        # The same for all; the store converts them if its format differs at the end.
        self._format = store._format()
        self._changes: dict[bytes, bytes | None] = {}

    def __setitem__(self, key: Key, value: Any) -> None:
        self._changes[self._store._key(key)] = self._store._encoded(self._format, key, value)

    def __delitem__(self, key: Key) -> None:
        self._changes[self._store._key(key)] = None

    def put(self, key: Key, value: Any) -> None:
        """Adds a value to store."""
        self[key] = value

    def delete(self, key: Key) -> None:
        """Adds a key to delete, if it exists."""
        del self[key]

    def update(self, items: Mapping[Any, Any] | Iterable[tuple[Any, Any]], /) -> None:
        """Adds many values to store."""
        pairs: Any = items.items() if isinstance(items, Mapping) else items
        for key, value in pairs:
            self[key] = value

    def __len__(self) -> int:
        """Returns the number of pending changes."""
        return len(self._changes)

    def __enter__(self) -> Batch:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        changes, self._changes = self._changes, {}
        if kind is None:
            self._store._apply(self._format, list(changes.items()))
