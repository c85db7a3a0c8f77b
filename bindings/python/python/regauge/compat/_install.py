"""Puts the compatibility modules in place of others, and takes them out."""

from __future__ import annotations

import contextlib
import importlib
import pkgutil
import sys
from collections.abc import Iterator
from types import ModuleType

# Names that install() takes. diskcache and shelve replace parts of a module.
NAMES = ("bson", "cbor2", "json", "msgpack", "orjson", "pymarc", "yaml")

# What each name hid: the modules that were imported before.
_hidden: dict[str, dict[str, ModuleType]] = {}


def _checked(names: tuple[str, ...]) -> None:
    unknown = sorted(set(names) - set(NAMES))
    if unknown or not names:
        found = ", ".join(map(repr, unknown)) or "no name"
        raise ValueError(f"found {found}, expected one or more of {', '.join(NAMES)}")


def imported(name: str) -> dict[str, ModuleType]:
    """Returns the imported modules of that name, with its submodules."""
    return {
        one: module
        for one, module in sys.modules.items()
        if one == name or one.startswith(f"{name}.")
    }


def hidden(name: str) -> dict[str, ModuleType]:
    """Returns the modules that regauge's stand in the place of."""
    return _hidden.get(name, {})


@contextlib.contextmanager
def taken_out(name: str) -> Iterator[None]:
    """Takes regauge's module out while the block imports the one in whose place it is."""
    if name not in _hidden:
        yield
        return
    ours = imported(name)
    for one in ours:
        del sys.modules[one]
    try:
        yield
    finally:
        found = imported(name)
        _hidden[name].update(found)
        for one in found:
            del sys.modules[one]
        sys.modules.update(ours)


def install(*names: str) -> None:
    """Makes `import yaml`, for each of the names, return regauge's module, in this process.

    Call it before the modules that use them are imported: a module that has run `from yaml import
    safe_load` keeps what it has. Names that are installed stay so.

    >>> import regauge.compat
    >>> regauge.compat.install("msgpack")
    >>> import msgpack
    >>> msgpack.__name__
    'regauge.compat.msgpack'
    >>> regauge.compat.uninstall("msgpack")
    """
    _checked(names)
    for name in names:
        if name in _hidden:
            continue
        ours = importlib.import_module(f"{__package__}.{name}")
        modules = {name: ours}
        for found in pkgutil.iter_modules(vars(ours).get("__path__", ())):
            if not found.name.startswith("_"):
                part = importlib.import_module(f"{ours.__name__}.{found.name}")
                modules[f"{name}.{found.name}"] = part
        if hasattr(ours, "_submodules"):
            modules.update((f"{name}.{one}", part) for one, part in ours._submodules().items())
        _hidden[name] = imported(name)
        for one in _hidden[name]:
            del sys.modules[one]
        sys.modules.update(modules)


def uninstall(*names: str) -> None:
    """Takes the modules out again; without names, all that are installed."""
    if names:
        _checked(names)
    for name in names or tuple(_hidden):
        if name not in _hidden:
            continue
        for one in imported(name):
            del sys.modules[one]
        sys.modules.update(_hidden.pop(name))
