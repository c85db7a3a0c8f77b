"""The interface of the standard library's json over regauge: `from regauge.compat import json`.

loads and load without keywords read with regauge, and so does dumps write compact JSON
(separators=(",", ":")). Everything else (the default separators, hooks, JSONEncoder, JSONDecoder,
errors) is that of the standard library.
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


_LIMITS = {"depth": 900, "integer_digits": 4300}
_loads = _regauge.Dialect("json", _Conversions(), "", allow_nan=True, limits=_LIMITS).loads
_COMPACT = {
    ascii: _regauge.Dialect(
        "json", _Conversions(), "bytes ints surrogates", ascii=ascii, float_style="python",
        limits={"depth": 250}, text=True,
    ).dumps
    for ascii in (True, False)
}
_SEPARATORS = (",", ":")


def loads(s: Any, **options: Any) -> Any:
    """Returns the value of a JSON document; takes the keywords of the standard library."""
    if not options:
        try:
            # A byte order mark is refused in text.
            if s[:1] != "\ufeff":
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
    separators = options.get("separators")
    if separators is not None and tuple(separators) == _SEPARATORS:
        if len(options) == 1 or (len(options) == 2 and "ensure_ascii" in options):
            try:
                compact: str = _COMPACT[bool(options.get("ensure_ascii", True))](obj)
                return compact
            except Exception:
                pass
    text: str = _json.dumps(obj, **options)
    return text


def __getattr__(name: str) -> Any:
    return getattr(_json, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_json)})


__all__ = _json.__all__


def _submodules() -> dict[str, ModuleType]:
    """Returns the standard library's modules, for install()."""
    return submodules(_json)
