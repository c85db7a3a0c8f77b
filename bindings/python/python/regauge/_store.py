"""The object store: a database as a mapping of keys to values."""

from __future__ import annotations

import random
import time as _time
from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, MutableMapping, ValuesView
from types import TracebackType
from typing import Any, Union

from . import _regauge
from ._series import Series

Key = Union[str, bytes, int]
_NOTHING: Any = object()


class Store(_regauge.Store, MutableMapping[Any, Any]):
    """A collection of a database, as a mapping of keys (str or bytes) to values.

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

    url -- "sqlite:PATH"; "postgres://…" and others where they are compiled in
    collection -- its name: a table of the database, made when the first value is put
    codec -- how new values are stored: "msgpack" (the default), "json+zstd", "pickle" …; a
        collection that is there keeps its own
    keys -- what keys come as when the store is walked: "text" (those that are no UTF-8 come as
        bytes) or "bytes"
    sync -- whether each change is on the disk before the call comes back; with False the last
        ones may be missing after the machine has lost its power, as with diskcache
    limits, on_loss, objects, default, sort_keys, duplicate_keys, object_hook, object_pairs_hook,
    ext_hook, tag_hook, types -- as in loads and dumps

    A value comes back as the codec's format has it: a tuple that was put in MessagePack is a list.
    What the format cannot hold raises EncodeError and nothing is stored. Every value has a checksum:
    one that has changed in the database raises StoreError, which names the key.

    Threads may share a store. Other threads run while the database works.
    """

    # Comparing would read both databases whole.
    __eq__ = object.__eq__
    __hash__ = object.__hash__  # pyright: ignore[reportAssignmentType]

    def items(self) -> ItemsView[Any, Any]:
        """Keys and values; the values are fetched many at a time."""
        return _Items(self)

    def values(self) -> ValuesView[Any]:
        """The values, fetched many at a time."""
        return _Values(self)

    def put(self, key: Key, value: Any) -> None:
        """Puts a value in the place of an older one if there is one: `store[key] = value`."""
        self[key] = value

    def update(self, other: Any = (), /, **more: Any) -> None:
        """Puts many values in one transaction."""
        self.put_many(other)
        if more:
            self.put_many(more)

    def add(self, key: Key, value: Any) -> bool:
        """Puts a value if there is none of this key; tells whether it did."""
        return self._swap(key, None, value)

    def setdefault(self, key: Key, default: Any = None) -> Any:
        """The value of a key, which is `default` from now on if there was none."""
        while True:
            found = self.get(key, _NOTHING)
            if found is not _NOTHING:
                return found
            if self.add(key, default):
                return self[key]

    def pop(self, key: Key, default: Any = _NOTHING) -> Any:
        """Takes a value out of the store."""
        while (seen := self._seen(key)) is not None:
            stored, value = seen
            if self._swap(key, stored, None, delete=True):
                return value
        if default is _NOTHING:
            raise KeyError(key)
        return default

    def change(self, key: Key, function: Callable[[Any], Any], default: Any = None) -> Any:
        """Puts what `function` makes of the value, or of `default`, and gives it.

        If somebody else changes the value meanwhile, `function` is called again with theirs.

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
                # Many at one key: not all at the same moment again.
                _time.sleep(random.random() * min(0.05, 0.0001 * 2**tries))

    def clear(self) -> None:
        """Deletes all values."""
        while keys := [key for _, key in zip(range(1000), self.scan_keys())]:
            self.delete_many(keys)

    def batch(self) -> Batch:
        """Changes that are made together: all of them at the end of the `with`, or none."""
        return Batch(self)

    def series(self, name: str, bucket: Any = None) -> Series:
        """The values of a time series: see regauge.Series."""
        return Series(self, name) if bucket is None else Series(self, name, bucket)

    def verify(
        self,
        *,
        prefix: str | bytes | None = None,
        on_bad: Callable[[Exception], Any] | None = None,
    ) -> dict[str, Any]:
        """Looks at every value: its checksum, and the whole document by its format's reader.

        Gives what was found: values, bad (damaged, or not to be decoded), bare (without an
        envelope), stored_bytes, document_bytes, codecs (values and bytes of each), and errors, the
        text of the first hundred. `on_bad` is called with the exception for each bad one instead.

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

        With dry_run nothing is changed: the saving is measured, and what would be refused is told.
        `rate` is the most values in a second. Gives values, changed, already, overtaken, refused,
        bytes_before, bytes_after, resumed and errors. A run that was stopped goes on where it was.
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
        """Takes a table that others have written for a collection, as it stands, and opens it.

        Nothing in the table is changed. Its values have no envelope, and `assume` says what they
        are: "pickle", "marshal", "base64:marshal", "yaml" … What is put from then on has one.
        """
        _regauge.adopt(
            url, collection, table, key_column, value_column, key_kind, assume, text, codec
        )
        return cls(url, collection, **options)

    @staticmethod
    def collections(url: str) -> list[str]:
        """The names of the collections of a database."""
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
    """Changes that wait for the end of the `with`, and are then made in one transaction.

    A value is encoded when it is given, so that one that cannot be stored raises there; what
    happens to the object later does not matter. If the block raises, nothing is changed.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        # One for all; the store converts them if it has another at the end.
        self._format = store._format()
        self._changes: dict[bytes, bytes | None] = {}

    def __setitem__(self, key: Key, value: Any) -> None:
        self._changes[self._store._key(key)] = self._store._encoded(self._format, key, value)

    def __delitem__(self, key: Key) -> None:
        self._changes[self._store._key(key)] = None

    def put(self, key: Key, value: Any) -> None:
        """Will put a value."""
        self[key] = value

    def delete(self, key: Key) -> None:
        """Will delete a value, if there is one."""
        del self[key]

    def update(self, items: Mapping[Any, Any] | Iterable[tuple[Any, Any]], /) -> None:
        """Will put many values."""
        pairs: Any = items.items() if isinstance(items, Mapping) else items
        for key, value in pairs:
            self[key] = value

    def __len__(self) -> int:
        """How many changes wait."""
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
