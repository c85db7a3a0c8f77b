"""The interface of the standard library's json over regauge: `from regauge.compat import json`.

loads and load without keywords read with regauge; dumps and dump write with it, without keywords or with
separators=(",", ":") and ensure_ascii. Everything else (indentation, hooks, JSONEncoder, JSONDecoder, errors)
is that of the standard library.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from .. import _regauge
from ._peer import imported, other, submodules

_json: Any = imported("json", "Python")


class _Conversions:
    """Leaves every value that is not plain data to the standard library."""

    lower = staticmethod(other)


# regauge also reads other buffers.
_DOCUMENTS = (str, bytes, bytearray)
_LIMITS = {"depth": 900, "integer_digits": 4300}
# A byte order mark is refused in text, and -0 is an int.
_loads = _regauge.Dialect("json", _Conversions(), "quiet no_marks no_zeros", allow_nan=True, limits=_LIMITS).loads
_SEPARATORS = {(", ", ": "): "spaced", (",", ":"): ""}
# By the separators and ensure_ascii.
_WRITERS = {
    (separators, ascii): _regauge.Dialect(
        "json", _Conversions(), f"bytes ints surrogates quiet {spaced} {'no_deletes' if ascii else ''}", ascii=ascii, float_style="python",
        limits={"depth": 250}, text=True,
    ).dumps
    for separators, spaced in _SEPARATORS.items()
    for ascii in (True, False)
}
_write = _WRITERS[(", ", ": "), True]


def _written(value: Any, options: dict[str, Any]) -> str | None:
    """Returns a value as JSON; None if the standard library has to write it."""
    write = _write
    if options:
        separators = options.get("separators")
        separators = (", ", ": ") if separators is None else tuple(separators)
        known = ("separators" in options) + ("ensure_ascii" in options)
        if separators not in _SEPARATORS or len(options) != known:
            return None
        write = _WRITERS[separators, bool(options.get("ensure_ascii", True))]
    try:
        text: str = write(value)
        return text
    except Exception:
        return None


def loads(s: Any, **options: Any) -> Any:
    """Returns the value of a JSON document; takes the keywords of the standard library."""
    if not options and isinstance(s, _DOCUMENTS):
        try:
            return _loads(s)
        except Exception:
            pass
    # Outside of the handler: the exception has no context.
    return _json.loads(s, **options)


def load(fp: Any, **options: Any) -> Any:
    """Returns the value of a JSON file; takes the keywords of the standard library."""
    return loads(fp.read(), **options)


def dumps(obj: Any, **options: Any) -> str:
    """Returns a value as JSON; takes the keywords of the standard library."""
    text = _written(obj, options)
    return text if text is not None else _json.dumps(obj, **options)


def dump(obj: Any, fp: Any, **options: Any) -> None:
    """Writes a value to a file as JSON; takes the keywords of the standard library."""
    text = _written(obj, options)
    if text is None:
        _json.dump(obj, fp, **options)
    else:
        fp.write(text)


def __getattr__(name: str) -> Any:
    return getattr(_json, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_json)})


__all__ = _json.__all__


def _submodules() -> dict[str, ModuleType]:
    """Returns the standard library's modules, for install()."""
    return submodules(_json)
