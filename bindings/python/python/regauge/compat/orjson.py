"""orjson's interface over regauge: `from regauge.compat import orjson`.

loads, and dumps without options or to sort and indent, read and write plain documents with regauge.
Everything else (types such as datetime and dataclasses, default, other options, errors) is orjson's,
which has to be installed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _regauge
from ._peer import imported, other, submodules

_orjson: Any = imported("orjson", "orjson")


class _Conversions:
    """Leaves every value that is not plain data to orjson."""

    lower = staticmethod(other)
    big_int = staticmethod(other)
    surrogates = staticmethod(other)


def _dialect(**options: Any) -> _regauge.Dialect:
    # A byte order mark is refused, and -0 is an int.
    return _regauge.Dialect("json", _Conversions(), "bytes ints surrogates quiet no_marks no_zeros", **options)


_NEWLINE: int = _orjson.OPT_APPEND_NEWLINE
_loads = _dialect(limits={"depth": 1000}).loads
_dumps = _dialect(limits={"depth": 250}).dumps
# The options that regauge has, without the newline at the end.
_DUMPS: dict[int, Callable[[Any], bytes]] = {
    0: _dumps,
    _orjson.OPT_SORT_KEYS: _dialect(limits={"depth": 250}, sort_keys=True).dumps,
    _orjson.OPT_INDENT_2: _dialect(limits={"depth": 250}, indent=2).dumps,
    _orjson.OPT_SORT_KEYS | _orjson.OPT_INDENT_2: _dialect(
        limits={"depth": 250}, sort_keys=True, indent=2
    ).dumps,
}


def loads(obj, /):  # type: ignore[no-untyped-def]
    """Returns the value of a JSON document."""
    try:
        return _loads(obj)
    except Exception:
        pass
    # Outside of the handler: the exception has no context.
    return _orjson.loads(obj)


def dumps(obj, /, default=None, option=None):  # type: ignore[no-untyped-def]
    """Returns a value as JSON; takes default and the options of orjson."""
    if option is None:
        write, end = _dumps, b""
    else:
        write = _DUMPS.get(option & ~_NEWLINE) if type(option) is int else None
        end = b"\n" if write is not None and option & _NEWLINE else b""
    if write is not None:
        try:
            return write(obj) + end if end else write(obj)
        except Exception:
            pass
    if default is None:
        return _orjson.dumps(obj, option=option)
    return _orjson.dumps(obj, default, option)


def __getattr__(name: str) -> Any:
    return getattr(_orjson, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_orjson)})


__all__ = _orjson.__all__


def _submodules() -> dict[str, Any]:
    """Returns orjson's modules, for install()."""
    return submodules(_orjson)
