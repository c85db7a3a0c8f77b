"""Decorators: diskcache's memoize_stampede."""

from __future__ import annotations

import functools
import math
import random
import threading
import time
from collections.abc import Callable
from typing import Any

from ._cache import Cache
from ._keys import ENOVAL, args_to_key


def memoize_stampede(
    cache: Cache,
    expire: float,
    name: str | None = None,
    typed: bool = False,
    tag: Any = None,
    beta: float = 1,
    ignore: Any = (),
) -> Callable[[Callable[..., Any]], Any]:
    """Returns a decorator like memoize, whose results are computed anew before they expire.

    A thread does so, at random, the sooner the longer the computation takes and the larger `beta` is:
    not all callers compute at once when a result expires.

    >>> from regauge.compat.diskcache import Cache, memoize_stampede
    >>> @memoize_stampede(Cache(), expire=60)
    ... def square(x):
    ...     return x * x
    >>> square(4), square(4)
    (16, 16)
    """

    def decorate(function: Callable[..., Any]) -> Any:
        base = (name or f"{function.__module__}.{function.__qualname__}",)

        def computed(key: Any, args: Any, kwargs: Any) -> Any:
            started = time.time()
            result = function(*args, **kwargs)
            cache.set(key, (result, time.time() - started), expire, tag=tag, retry=True)
            return result

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            key = cache_key(*args, **kwargs)
            found, expires = cache.get(key, ENOVAL, expire_time=True, retry=True)
            if found is ENOVAL:
                return computed(key, args, kwargs)
            result, took = found
            if -took * beta * math.log(random.random()) >= expires - time.time():
                # One thread at a time.
                if cache.add((*key, ENOVAL), None, expire=took, retry=True):
                    threading.Thread(target=computed, args=(key, args, kwargs), daemon=True).start()
            return result

        def cache_key(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
            return args_to_key(base, args, kwargs, typed, set(ignore))

        wrapper.__cache_key__ = cache_key  # type: ignore[attr-defined]
        return wrapper

    return decorate
