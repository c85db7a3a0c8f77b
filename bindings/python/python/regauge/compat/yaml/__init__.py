"""PyYAML's interface over regauge: `from regauge.compat import yaml`.

load and its variants read plain documents with regauge, with the values of PyYAML's SafeLoader.
Nodes, events, tokens, dumping, tags with constructors of your own and the text of errors are PyYAML's,
which has to be installed. Nothing that a document names is called: UnsafeLoader and unsafe_load are
refused, and so are the tags python/name, python/object and the like.
"""

from __future__ import annotations

from typing import Any as _Any

from .._peer import submodules as _parts
from . import _classes
from ._classes import (
    YAMLObject,
    add_constructor,
    add_implicit_resolver,
    add_multi_constructor,
    add_path_resolver,
)
from ._dump import dump, dump_all, safe_dump, safe_dump_all
from ._load import (
    full_load,
    full_load_all,
    load,
    load_all,
    safe_load,
    safe_load_all,
    unsafe_load,
    unsafe_load_all,
)
from ._peer import yaml as _yaml

_OURS = {
    "YAMLObject", "add_constructor", "add_implicit_resolver", "add_multi_constructor",
    "add_path_resolver", "dump", "dump_all", "full_load", "full_load_all", "load", "load_all",
    "safe_dump", "safe_dump_all", "safe_load", "safe_load_all", "unsafe_load", "unsafe_load_all",
}
globals().update(_classes.ALL)


def __getattr__(name: str) -> _Any:
    # Kept: linters ask for the classes of tokens a million times.
    found = globals()[name] = getattr(_yaml, name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_yaml)})


__all__ = sorted({*_OURS, *_classes.ALL, *(name for name in dir(_yaml) if not name.startswith("_"))})


def scan(stream: _Any, Loader: _Any = _classes.Loader) -> _Any:  # noqa: N803
    """Yields the tokens of a stream."""
    return _yaml.scan(stream, Loader)


def parse(stream: _Any, Loader: _Any = _classes.Loader) -> _Any:  # noqa: N803
    """Yields the events of a stream."""
    return _yaml.parse(stream, Loader)


def compose(stream: _Any, Loader: _Any = _classes.Loader) -> _Any:  # noqa: N803
    """Returns the node of the only document in a stream."""
    return _yaml.compose(stream, Loader)


def compose_all(stream: _Any, Loader: _Any = _classes.Loader) -> _Any:  # noqa: N803
    """Yields the nodes of the documents in a stream."""
    return _yaml.compose_all(stream, Loader)


def _submodules() -> dict[str, _Any]:
    """Returns PyYAML's modules, for install()."""
    return _parts(_yaml)
