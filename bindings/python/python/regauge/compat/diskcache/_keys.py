"""Keys as they are stored, and constants."""

from __future__ import annotations

from typing import Any

from ... import _regauge


class _Constant(tuple):  # type: ignore[type-arg]
    """A name that stands for itself, as in diskcache."""

    def __new__(cls, name: str) -> _Constant:
        return tuple.__new__(cls, (name,))

    def __repr__(self) -> str:
        return str(self[0])


ENOVAL = _Constant("ENOVAL")
UNKNOWN = _Constant("UNKNOWN")


class Timeout(Exception):
    """Another writer held the database for too long."""


# The prefix of a stored key that is not text.
_MARK = b"\0"


def _tuples(key: Any) -> Any:
    return tuple(_tuples(one) for one in key) if isinstance(key, list) else key


def stored_key(key: Any) -> str | bytes:
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


def own_key(key: Any) -> Any:
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
