"""Time series in a store."""

from __future__ import annotations

import datetime as _datetime
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Union

from . import _regauge
from ._values import Timestamp, timestamp

if TYPE_CHECKING:
    from ._store import Store

_EPOCH = _datetime.datetime(1970, 1, 1, tzinfo=_datetime.timezone.utc)
_DAY = _datetime.timedelta(days=1)
_MICROSECOND = _datetime.timedelta(microseconds=1)

Time = Union[_datetime.datetime, Timestamp, int]


def _ns(time: Time) -> int:
    """Returns nanoseconds since 1970."""
    if isinstance(time, _datetime.datetime):
        if time.tzinfo is None:
            raise ValueError("found a datetime without a time zone, expected one with a time zone")
        return (time - _EPOCH) // _MICROSECOND * 1000
    if isinstance(time, Timestamp):
        return time.seconds * 10**9 + time.nanoseconds
    if isinstance(time, int) and not isinstance(time, bool):
        return time
    found = type(time).__name__
    raise TypeError(f"found {found} as a time, expected datetime, or int in nanoseconds since 1970")


class Series:
    """The values of a time series in a store, ordered by time.

    A bucket, a day by default, is stored contiguously by the engine; it is part of the keys, so a
    series must always be opened with the same bucket.

    >>> import regauge
    >>> from datetime import datetime, timezone
    >>> store = regauge.Store("sqlite::memory:")
    >>> series = store.series("temperature")
    >>> series[datetime(2026, 11, 21, 12, tzinfo=timezone.utc)] = 7.5
    >>> series[datetime(2026, 11, 22, 12, tzinfo=timezone.utc)] = 8.0
    >>> [value for time, value in series.scan(reverse=True)]
    [8.0, 7.5]
    >>> series.latest()
    (datetime.datetime(2026, 11, 22, 12, 0, tzinfo=datetime.timezone.utc), 8.0)

    A time is a datetime with a time zone, or an int: nanoseconds since 1970. It is returned as a
    datetime in UTC, or as a regauge.Timestamp if it is finer than a microsecond.
    """

    def __init__(self, store: Store, name: str, bucket: _datetime.timedelta = _DAY) -> None:
        self._store = store
        self._name = name
        self._bucket = bucket // _MICROSECOND * 1000
        # Raises at once if the name or the bucket is wrong.
        self._whole = _regauge.series_range(name, self._bucket)

    def key(self, time: Time) -> bytes:
        """Returns the key of the value at a time."""
        return _regauge.series_key(self._name, self._bucket, _ns(time))

    def __setitem__(self, time: Time, value: Any) -> None:
        self._store[self.key(time)] = value

    def __getitem__(self, time: Time) -> Any:
        found = self._store.get_many([key := self.key(time)])
        if key not in found:
            raise KeyError(time)
        return found[key]

    def __delitem__(self, time: Time) -> None:
        if not self._store.delete(self.key(time)):
            raise KeyError(time)

    def put_many(self, items: Mapping[Any, Any] | Iterable[tuple[Any, Any]], /) -> int:
        """Stores many values in one transaction; returns how many."""
        pairs: Any = items.items() if isinstance(items, Mapping) else items
        return self._store.put_many([(self.key(time), value) for time, value in pairs])

    def scan(
        self, *, from_: Time | None = None, to: Time | None = None, reverse: bool = False
    ) -> Iterator[tuple[Any, Any]]:
        """Yields times and values, start inclusive and end exclusive; oldest first, or newest."""
        first, behind = self._whole
        start = first if from_ is None else self.key(from_)
        end = behind if to is None else self.key(to)
        for key, value in self._store.scan(from_=start, to=end, reverse=reverse):
            yield self._time(key), value

    def __iter__(self) -> Iterator[Any]:
        first, behind = self._whole
        for key in self._store.scan_keys(from_=first, to=behind):
            yield self._time(key)

    def latest(self) -> tuple[Any, Any] | None:
        """Returns the newest time and its value; None for an empty series."""
        return next(self.scan(reverse=True), None)

    def _time(self, key: Any) -> Any:
        name = key.encode() if isinstance(key, str) else key
        ns = _regauge.series_time(self._name, self._bucket, name)
        if ns is None:
            raise ValueError(f"found the key {key!r}, which is not part of the series {self._name}")
        return timestamp(ns // 10**9, ns % 10**9)
