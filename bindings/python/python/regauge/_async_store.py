"""The object store for asyncio: database calls run in the store's own thread."""

from __future__ import annotations

import concurrent.futures
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, TypeVar

from ._store import Batch, Key, Store

_T = TypeVar("_T")
# Items that a walk fetches at a time.
_PAGE = 200


class AsyncStore:
    """A store with awaitable methods.

    Takes the arguments of regauge.Store.

    >>> import asyncio, regauge
    >>> async def main():
    ...     async with regauge.AsyncStore("sqlite::memory:") as store:
    ...         await store.put("a", [1, 2.5])
    ...         await store.put_many({"b": "text", "c": None})
    ...         print(await store.get("a"), await store.count())
    ...         async for key, value in store.scan(from_="b"):
    ...             print(key, value)
    >>> asyncio.run(main())
    [1, 2.5] 3
    b text
    c None

    The calls of one store run one after the other, as on a single connection; the event loop and
    other threads run meanwhile. A value is encoded before the call waits, so the object may change
    afterwards.
    """

    def __init__(self, url: str, collection: str = "objects", codec: str | None = None, **options: Any) -> None:
        self._arguments = (url, collection, codec)
        self._options = options
        self._pool = concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="regauge-store")
        self._store: Store | None = None

    async def _run(self, function: Callable[..., _T], *arguments: Any, **named: Any) -> _T:
        import asyncio
        import functools

        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, functools.partial(function, *arguments, **named))

    async def _opened(self) -> Store:
        if self._store is not None:
            return self._store
        return await self._run(self._open)

    def _open(self) -> Store:
        # In the pool's only thread, so that concurrent tasks open a single store.
        if self._store is None:
            self._store = Store(*self._arguments, **self._options)
        return self._store

    @property
    def store(self) -> Store | None:
        """Returns the underlying store, once it is open."""
        return self._store

    async def __aenter__(self) -> AsyncStore:
        await self._opened()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the database, and ends the thread."""
        if self._store is not None:
            await self._run(self._store.close)
        self._pool.shutdown(wait=False)

    async def get(self, key: Key, default: Any = None) -> Any:
        """Returns the value of a key, or `default`."""
        store = await self._opened()
        return await self._run(store.get, key, default)

    async def get_many(self, keys: Iterable[Any]) -> dict[Any, Any]:
        """Returns the values of many keys: a dict of those that exist."""
        store = await self._opened()
        return await self._run(store.get_many, list(keys))

    async def put(self, key: Key, value: Any) -> None:
        """Stores a value, replacing an existing one."""
        store = await self._opened()
        format = store._format()
        document = store._encoded(format, key, value)
        await self._run(store._apply, format, [(store._key(key), document)])

    async def put_many(self, items: Mapping[Any, Any] | Iterable[tuple[Any, Any]], /) -> None:
        """Stores many values in one transaction."""
        async with self.batch() as batch:
            batch.update(items)

    async def add(self, key: Key, value: Any) -> bool:
        """Stores a value unless the key exists; returns whether it did."""
        store = await self._opened()
        return await self._run(store.add, key, value)

    async def change(self, key: Key, function: Callable[[Any], Any], default: Any = None) -> Any:
        """Replaces a value by the result of `function(value or default)`, and returns that.

        `function` is called in the store's thread.
        """
        store = await self._opened()
        return await self._run(store.change, key, function, default)

    async def delete(self, key: Key) -> bool:
        """Deletes a value; returns whether there was one."""
        store = await self._opened()
        return await self._run(store.delete, key)

    async def contains(self, key: Key) -> bool:
        """Returns whether this key has a value."""
        store = await self._opened()
        return await self._run(store.__contains__, key)

    async def count(self) -> int:
        """Returns the number of values."""
        store = await self._opened()
        return await self._run(store.__len__)

    async def scan(
        self,
        *,
        prefix: str | bytes | None = None,
        from_: Key | None = None,
        to: Key | None = None,
        reverse: bool = False,
    ) -> AsyncIterator[tuple[Any, Any]]:
        """Yields the keys and values of a range."""
        store = await self._opened()
        walk = store.scan(prefix=prefix, from_=from_, to=to, reverse=reverse)

        def page() -> list[tuple[Any, Any]]:
            return [pair for _, pair in zip(range(_PAGE), walk)]

        while pairs := await self._run(page):
            for pair in pairs:
                yield pair

    def batch(self) -> AsyncBatch:
        """Groups changes: all are made at the end of the `async with`, or none."""
        return AsyncBatch(self)

    async def verify(self, **options: Any) -> dict[str, Any]:
        """Like Store.verify."""
        store = await self._opened()
        return await self._run(store.verify, **options)

    async def reencode(self, to: str, **options: Any) -> dict[str, Any]:
        """Like Store.reencode."""
        store = await self._opened()
        return await self._run(store.reencode, to, **options)


class AsyncBatch:
    """Like regauge.Batch, for `async with`."""

    def __init__(self, store: AsyncStore) -> None:
        self._store = store
        self._batch: Batch | None = None

    async def __aenter__(self) -> Batch:
        self._batch = (await self._store._opened()).batch()
        return self._batch

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._batch is not None:
            await self._store._run(self._batch.__exit__, kind, raised, trace)
