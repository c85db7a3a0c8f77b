"""A deque and a mapping that are kept in a cache: diskcache's Deque and Index."""

from __future__ import annotations

import collections
import contextlib
import math
import operator
import os
from collections.abc import Callable, Iterable, Iterator, MutableMapping, Sequence
from typing import Any

from ._cache import Cache
from ._keys import ENOVAL


def _compared(operation: Callable[[Any, Any], bool]) -> Callable[[Any, Any], Any]:
    """Returns a comparison with another sequence, value by value."""

    def compare(self: Deque, that: Any) -> Any:
        if not isinstance(that, Sequence):
            return NotImplemented
        mine, other = len(self), len(that)
        if mine != other and operation in (operator.eq, operator.ne):
            return operation is operator.ne
        for one, two in zip(self, that):
            if one != two:
                return operation(one, two)
        return operation(mine, other)

    return compare


class _InCache:
    """What a deque and a mapping have in common."""

    _cache: Cache

    @property
    def cache(self) -> Cache:
        """Returns the cache that holds it."""
        return self._cache

    @property
    def directory(self) -> str:
        """Returns the folder."""
        return self._cache.directory

    def clear(self) -> None:
        """Removes everything."""
        self._cache.clear(retry=True)

    @contextlib.contextmanager
    def transact(self) -> Iterator[None]:
        """Makes all changes in the block, or none if it raises; other writers wait meanwhile."""
        with self._cache.transact(retry=True):
            yield

    def __len__(self) -> int:
        return len(self._cache)


class Deque(_InCache, Sequence[Any]):
    """A deque in a folder.

    >>> from regauge.compat.diskcache import Deque
    >>> deque = Deque([1, 2, 3])
    >>> deque.appendleft(0)
    >>> deque.pop(), list(deque), deque[-1]
    (3, [0, 1, 2], 2)

    iterable -- values to append
    directory -- the folder; None creates one, which is not removed
    maxlen -- beyond this length, values are removed from the other side
    """

    def __init__(
        self,
        iterable: Iterable[Any] = (),
        directory: str | os.PathLike[str] | None = None,
        maxlen: float | None = None,
    ) -> None:
        self._start(Cache(directory, eviction_policy="none"), iterable, maxlen)

    @classmethod
    def fromcache(cls, cache: Cache, iterable: Iterable[Any] = (), maxlen: float | None = None) -> Deque:
        """Returns a deque in a cache."""
        made = cls.__new__(cls)
        made._start(cache, iterable, maxlen)
        return made

    def _start(self, cache: Cache, iterable: Iterable[Any], maxlen: float | None) -> None:
        self._cache = cache
        self._maxlen = math.inf if maxlen is None else maxlen
        self.extend(iterable)

    @property
    def maxlen(self) -> float:
        """Returns the maximum length; setting it removes values from the left."""
        return self._maxlen

    @maxlen.setter
    def maxlen(self, value: float) -> None:
        self._maxlen = value
        with self._cache.transact(retry=True):
            while len(self._cache) > self._maxlen:
                self.popleft()

    def _at(self, index: int, call: Callable[[Any], Any]) -> Any:
        """Calls a function with the key at an index; a key that is gone meanwhile is skipped."""
        count, reverse = len(self._cache), index < 0
        left = -index - 1 if reverse else index
        if left < count:
            for key in self._cache.iterkeys(reverse=True) if reverse else self._cache.iterkeys():
                if left == 0:
                    with contextlib.suppress(KeyError):
                        return call(key)
                else:
                    left -= 1
        raise IndexError("deque index out of range")

    def __getitem__(self, index: Any) -> Any:
        return self._at(index, self._cache.__getitem__)

    def __setitem__(self, index: int, value: Any) -> None:
        self._at(index, lambda key: self._cache.__setitem__(key, value))

    def __delitem__(self, index: int) -> None:
        self._at(index, self._cache.__delitem__)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(directory={self.directory!r})"

    __eq__ = _compared(operator.eq)
    __ne__ = _compared(operator.ne)
    __lt__ = _compared(operator.lt)
    __gt__ = _compared(operator.gt)
    __le__ = _compared(operator.le)
    __ge__ = _compared(operator.ge)
    __hash__ = None  # type: ignore[assignment]

    def __iadd__(self, iterable: Iterable[Any]) -> Deque:
        self.extend(iterable)
        return self

    def _values(self, keys: Iterable[Any]) -> Iterator[Any]:
        for key in keys:
            with contextlib.suppress(KeyError):
                yield self._cache[key]

    def __iter__(self) -> Iterator[Any]:
        return self._values(self._cache.iterkeys())

    def __reversed__(self) -> Iterator[Any]:
        return self._values(self._cache.iterkeys(reverse=True))

    def __getstate__(self) -> Any:
        return self.directory, self.maxlen

    def __setstate__(self, state: Any) -> None:
        Deque.__init__(self, directory=state[0], maxlen=state[1])

    def append(self, value: Any) -> None:
        """Adds a value at the right."""
        self._push(value, "back", self.popleft)

    def appendleft(self, value: Any) -> None:
        """Adds a value at the left."""
        self._push(value, "front", self.pop)

    def _push(self, value: Any, side: str, drop: Callable[[], Any]) -> None:
        if self._maxlen == math.inf:
            self._cache.push(value, side=side, retry=True)
            return
        with self._cache.transact(retry=True):
            self._cache.push(value, side=side, retry=True)
            if len(self._cache) > self._maxlen:
                drop()

    def copy(self) -> Deque:
        """Returns a deque in the same folder."""
        return type(self)(directory=self.directory, maxlen=self.maxlen)

    def count(self, value: Any) -> int:
        """Returns how often a value occurs."""
        return sum(1 for one in self if value == one)

    def extend(self, iterable: Iterable[Any]) -> None:
        """Adds values at the right."""
        for value in iterable:
            self.append(value)

    def extendleft(self, iterable: Iterable[Any]) -> None:
        """Adds values at the left, one by one."""
        for value in iterable:
            self.appendleft(value)

    def _value(self, call: Callable[..., Any], side: str, doing: str) -> Any:
        value = call(default=(None, ENOVAL), side=side, retry=True)[1]
        if value is ENOVAL:
            raise IndexError(f"{doing} from an empty deque")
        return value

    def peek(self) -> Any:
        """Returns the value at the right."""
        return self._value(self._cache.peek, "back", "peek")

    def peekleft(self) -> Any:
        """Returns the value at the left."""
        return self._value(self._cache.peek, "front", "peek")

    def pop(self) -> Any:
        """Removes the value at the right and returns it."""
        return self._value(self._cache.pull, "back", "pop")

    def popleft(self) -> Any:
        """Removes the value at the left and returns it."""
        return self._value(self._cache.pull, "front", "pop")

    def remove(self, value: Any) -> None:
        """Removes the first occurrence of a value."""
        for key in self._cache.iterkeys():
            with contextlib.suppress(KeyError):
                if value == self._cache[key]:
                    del self._cache[key]
                    return
        raise ValueError("deque.remove(value): value not in deque")

    def reverse(self) -> None:
        """Reverses the order."""
        cache = self._cache
        with self.transact():
            pairs = zip(cache.iterkeys(), cache.iterkeys(reverse=True))
            for _, (left, right) in zip(range(len(self) // 2), pairs):
                cache[left], cache[right] = cache[right], cache[left]

    def rotate(self, steps: int = 1) -> None:
        """Moves values from the right to the left; from the left to the right if `steps` is negative."""
        if not isinstance(steps, int):
            raise TypeError(f"integer argument expected, got {type(steps).__name__}")
        if not len(self):
            return
        take, put = (self.pop, self.appendleft) if steps >= 0 else (self.popleft, self.append)
        with contextlib.suppress(IndexError):
            for _ in range(abs(steps) % len(self)):
                put(take())


class Index(_InCache, MutableMapping[Any, Any]):
    """A mapping in a folder, in the order in which its keys were put.

    >>> from regauge.compat.diskcache import Index
    >>> index = Index({"b": 1, "a": 2})
    >>> index["c"] = 3
    >>> list(index), index.popitem(last=False)
    (['b', 'a', 'c'], ('b', 1))

    The first argument may be the folder; without it, or with None, one is created and not removed. The
    others are those of dict.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        directory = None
        if args and (args[0] is None or isinstance(args[0], (bytes, str))):
            directory, *rest = args
            args = tuple(rest)
        self._cache = Cache(os.fsdecode(directory) if directory is not None else None, eviction_policy="none")
        self.update(*args, **kwargs)

    @classmethod
    def fromcache(cls, cache: Cache, *args: Any, **kwargs: Any) -> Index:
        """Returns a mapping in a cache."""
        made = cls.__new__(cls)
        made._cache = cache
        made.update(*args, **kwargs)
        return made

    def __getitem__(self, key: Any) -> Any:
        return self._cache[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._cache[key] = value

    def __delitem__(self, key: Any) -> None:
        del self._cache[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._cache)

    def __reversed__(self) -> Iterator[Any]:
        return reversed(self._cache)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """Returns the value of a key, storing `default` first if there is none."""
        while True:
            with contextlib.suppress(KeyError):
                return self._cache[key]
            self._cache.add(key, default, retry=True)

    def peekitem(self, last: bool = True) -> Any:
        """Returns the key that was put last, or first, with its value."""
        return self._cache.peekitem(last, retry=True)

    def pop(self, key: Any, default: Any = ENOVAL) -> Any:
        """Removes a value and returns it."""
        value = self._cache.pop(key, default=default, retry=True)
        if value is ENOVAL:
            raise KeyError(key)
        return value

    def popitem(self, last: bool = True) -> Any:
        """Removes the key that was put last, or first, and returns it with its value."""
        with self.transact():
            key, value = self._cache.peekitem(last)
            del self._cache[key]
        return key, value

    def push(self, value: Any, prefix: str | None = None, side: str = "back") -> Any:
        """Adds a value at one side of a queue; returns its key: as in Cache."""
        return self._cache.push(value, prefix, side, retry=True)

    def pull(self, prefix: str | None = None, default: Any = (None, None), side: str = "front") -> Any:
        """Removes a value from one side of a queue; returns its key and it: as in Cache."""
        return self._cache.pull(prefix, default, side, retry=True)

    def __getstate__(self) -> Any:
        return self.directory

    def __setstate__(self, state: Any) -> None:
        Index.__init__(self, state)

    def __eq__(self, other: Any) -> bool:
        if len(self) != len(other):
            return False
        if isinstance(other, (Index, collections.OrderedDict)):
            return all(mine == theirs for mine, theirs in zip(self.items(), other.items()))
        return all(self[key] == other.get(key, ENOVAL) for key in self)

    def __ne__(self, other: Any) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def memoize(self, name: str | None = None, typed: bool = False, ignore: Any = ()) -> Any:
        """Returns a decorator that keeps a function's results by its arguments."""
        return self._cache.memoize(name, typed, ignore=ignore)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.directory!r})"
