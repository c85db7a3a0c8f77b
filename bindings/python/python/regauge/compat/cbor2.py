"""cbor2's interface over regauge: `from regauge.compat import cbor2`.

loads and dumps without keywords read and write plain documents with regauge. Everything else (keywords,
tags, load, CBOREncoder, CBORDecoder, errors) is cbor2's, which has to be installed.
"""

from __future__ import annotations

import inspect
from typing import Any

from .. import _regauge, _values
from ._peer import Other, imported, other, plain, submodules

_cbor2: Any = imported("cbor2", "cbor2")


class _Conversions:
    """What becomes of values that are not plain data; cbor2 decides what is absent here."""

    lower = staticmethod(other)

    @staticmethod
    def timestamp(seconds: int, nanoseconds: int) -> Any:
        """Returns a datetime in UTC."""
        return plain(_values.timestamp(seconds, nanoseconds))

    @staticmethod
    def uuid(data: bytes) -> Any:
        """Returns a UUID."""
        return _values.uuid(data)

    @staticmethod
    def typed(origin: str, kind: str, name: str, value: Any, early: Any) -> Any:
        """Returns a set; cbor2 decides any other tag."""
        if name == "258" and early is None and type(value) is list:
            return set(value)
        raise Other


# cbor2 writes infinities and NaN with half precision.
_SPECIAL = "surrogates repeats quiet no_infinities"
_dialect = _regauge.Dialect("cbor", _Conversions(), _SPECIAL, limits={"depth": 400})
_loads = _dialect.loads
_dumps = _dialect.dumps


def loads(data: Any, **options: Any) -> Any:
    """Returns the value in some bytes; takes the keywords of cbor2."""
    if options or type(data) is str:
        return _cbor2.loads(data, **options)
    try:
        return _loads(data)
    except Exception:
        pass
    # Outside of the handler: the exception has no context.
    return _cbor2.loads(data)


def dumps(obj: Any, **options: Any) -> bytes:
    """Returns the bytes of a value; takes the keywords of cbor2."""
    if options:
        return _cbor2.dumps(obj, **options)
    try:
        return _dumps(obj)  # type: ignore[no-any-return]
    except Exception:
        pass
    return _cbor2.dumps(obj)


def dump(obj: Any, fp: Any, **options: Any) -> None:
    """Writes the bytes of a value to a file object; takes the keywords of cbor2."""
    if options:
        _cbor2.dump(obj, fp, **options)
    else:
        fp.write(dumps(obj))


for _ours in (loads, dumps, dump):
    _ours.__signature__ = inspect.signature(getattr(_cbor2, _ours.__name__))  # type: ignore[attr-defined]


def __getattr__(name: str) -> Any:
    return getattr(_cbor2, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_cbor2)})


def _submodules() -> dict[str, Any]:
    """Returns cbor2's modules, for install()."""
    return submodules(_cbor2)
