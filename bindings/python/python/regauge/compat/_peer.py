"""The module that a compatibility module stands for, and the conversions of plain documents.

The modules that use this let regauge read and write plain documents, and pass everything else (other
keywords, types of its own, errors) to the module itself, from the beginning: so a result never
differs, and an exception is its own.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from . import _install


def imported(name: str, package: str) -> Any:
    """Returns the module of that name itself, also while regauge's is installed in its place.

    Raises ImportError with advice if `package` is not installed.
    """
    hidden = _install.hidden(name)
    if name in hidden:
        return hidden[name]
    with _install.taken_out(name):
        try:
            return importlib.import_module(name)
        except ImportError as error:
            raise ImportError(
                f"regauge.compat.{name} passes what regauge does not do itself to {package}, which is "
                f"not installed; run pip install {package}, or use regauge's own module"
            ) from error


def submodules(module: ModuleType) -> dict[str, ModuleType]:
    """Returns the submodules of a module by their names: install() leaves them where they are."""
    name = module.__name__
    parts = {**_install.imported(name), **_install.hidden(name)}
    return {part.removeprefix(f"{name}."): found for part, found in parts.items() if part != name}


class Other(Exception):
    """The document has something that is not plain: the module itself decides."""


def other(*arguments: Any) -> Any:
    """Leaves a value to the module itself."""
    raise Other


def plain(value: Any) -> Any:
    """Returns a date or time of Python's; leaves those that Python cannot hold."""
    if isinstance(value, tuple):
        raise Other
    return value
