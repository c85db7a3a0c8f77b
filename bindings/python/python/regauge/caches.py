"""A serializer that moves a cache, sessions or the tasks of Celery off pickle while the application runs.

It reads what it wrote and what pickle wrote, the latter as data: nothing is imported, classes are those that it is
given, and a value of another class is an error. It fits where Django and django-redis take a serializer:

    # shop/caches.py
    import regauge.caches
    serializer = regauge.caches.Serializer("msgpack", writes="pickle")

    # settings.py
    CACHES = {"default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": "redis://localhost",
        "OPTIONS": {"serializer": "shop.caches.serializer"},
    }}

and where Celery does:

    kombu.serialization.register("pickle", serializer.dumps, serializer.loads, "application/x-python-serialize", "binary")

First deploy it with writes="pickle", so that old and new processes read each other's values; then without, once
no old process is left; then with reads_pickle=False, when `on_pickle` is no longer called.
"""

import pickle as _pickle
import re as _re
from collections.abc import Callable, Mapping
from typing import Any

from . import dumps as _dumps
from . import loads as _loads
from . import pickle as _inert
from ._errors import DecodeError
from ._values import Object as _Object

__all__ = ["Serializer"]

_DIGITS = _re.compile(rb"-?[0-9]+")


class Serializer:
    """Writes values in a format, and reads that format and pickle.

    format is one that holds what the application stores: 'msgpack', 'cbor' or 'json'. A value that it cannot hold
    raises EncodeError, unless the options say otherwise (on_loss='approximate'). As with dumps, a tuple is written as
    a list. So is a set, and a date or a decimal as text, if the format has none of these; CBOR has them.
    writes is 'pickle' while old processes still read the cache, else 'format'.
    reads_pickle=False refuses pickle, with what it would have imported.
    types are the classes that old values may have, as in regauge.pickle.loads.
    on_pickle is called with the bytes of every old value that is read, and pickles_read counts them.
    """

    def __init__(
        self,
        format: str = "msgpack",
        *,
        writes: str = "format",
        reads_pickle: bool = True,
        types: Mapping[str, Any] | None = None,
        on_pickle: Callable[[bytes], object] | None = None,
        protocol: int = _pickle.HIGHEST_PROTOCOL,
        **options: Any,
    ) -> None:
        if writes not in ("format", "pickle"):
            raise ValueError(f"found writes={writes!r}, expected 'format' or 'pickle'")
        if protocol < 2:
            raise ValueError(f"found protocol={protocol}, expected 2 or later, which begins with a byte of its own")
        if writes == "pickle" and not reads_pickle:
            raise ValueError("found writes='pickle' with reads_pickle=False, which could not read what it writes")
        _dumps(None, format, **options)
        self.format = format
        self.writes = writes
        self.reads_pickle = reads_pickle
        self.pickles_read = 0
        self._types = types
        self._on_pickle = on_pickle
        self._protocol = protocol
        self._options = options
        self._reading = _of_loads(options, format)

    def __call__(self, options: object = None) -> "Serializer":
        """Returns itself: Django and django-redis create what their settings name."""
        return self

    def dumps(self, value: Any) -> Any:
        """Returns the bytes of a value; an int as it is, which Redis can count with."""
        if type(value) is int:
            return value
        if self.writes == "pickle":
            return _pickle.dumps(value, self._protocol)
        data = _dumps(value, self.format, **self._options)
        # MessagePack's byte of 50 is the digit 2: an integer that would be read as digits is written in digits.
        return data if _digits(data) is None else _loads(data, self.format)

    def loads(self, data: Any) -> Any:
        """Returns the value of bytes that dumps or pickle wrote."""
        number = _digits(data)
        if number is not None:
            return number
        if not _is_pickle(data):
            return _loads(data, self.format, **self._reading)
        if self.reads_pickle:
            self.pickles_read += 1
            if self._on_pickle is not None:
                self._on_pickle(data)
        value = _inert.loads(data, types=self._types)
        unknown = _classes(value)
        if not self.reads_pickle:
            said = f"with the classes {', '.join(unknown)}" if unknown else "of plain data"
            raise DecodeError(f"found a pickle {said}, expected {self.format}")
        if unknown:
            raise DecodeError(f"found a pickle with the classes {', '.join(unknown)}; pass types= to read them")
        return value


def _digits(data: Any) -> int | None:
    """Returns the integer that Redis counts with, if this is one or its digits."""
    return int(data) if isinstance(data, int) or _DIGITS.fullmatch(data) else None


def _of_loads(options: Mapping[str, Any], format: str) -> dict[str, Any]:
    """Returns the options that reading takes as well, and the one that undoes on_loss='wrap'."""
    reading = {}
    for name, value in options.items():
        try:
            _loads(_dumps(0, format), format, **{name: value})
        except TypeError:
            continue
        reading[name] = value
    if "wrap" in (options.get("on_loss"), options.get("objects")):
        reading.setdefault("unwrap", True)
    return reading


def _is_pickle(data: bytes) -> bool:
    """Returns whether these are bytes of pickle: protocol 2 or later begins with 80 and its number.

    In MessagePack 80 is an empty map, after which nothing follows; in CBOR an empty array.
    """
    return len(data) > 2 and data[0] == 0x80 and data[1] <= 5


def _classes(value: Any) -> list[str]:
    """Returns the classes in a value that stand for themselves, because types= lacks them."""
    names, waiting, seen = set(), [value], set()
    while waiting:
        one = waiting.pop()
        if isinstance(one, (dict, list, tuple, set, frozenset, _Object)):
            if id(one) in seen:
                continue
            seen.add(id(one))
        if isinstance(one, _Object):
            names.add(one.name or one.kind)
            waiting.append(one.value)
        elif isinstance(one, dict):
            waiting.extend(one)
            waiting.extend(one.values())
        elif isinstance(one, (list, tuple, set, frozenset)):
            waiting.extend(one)
    return sorted(names)
