"""PyYAML's loaders without the unsafe ones, and what registers with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._peer import yaml

_PYTHON = "tag:yaml.org,2002:python/"
# Tags of Loader and FullLoader that name no object: they stay.
_DATA = {
    f"{_PYTHON}{name}"
    for name in ("none", "bool", "str", "unicode", "bytes", "int", "long", "float", "complex", "list",
                 "tuple", "dict")
}
_ADVICE = (
    "regauge.compat.yaml constructs no Python objects; load the file with PyYAML itself if you trust it, "
    "or register a constructor for this tag with add_constructor"
)


def _refuse(loader: Any, suffix: str, node: Any) -> Any:
    """Refuses a tag that names a Python object."""
    raise yaml.constructor.ConstructorError(
        None, None, f"found the tag {node.tag!r}: {_ADVICE}", node.start_mark
    )


def _safer(base: type) -> dict[str, Any]:
    """Returns the attributes of a subclass that constructs no Python objects."""
    constructors = {
        tag: function
        for tag, function in base.yaml_constructors.items()  # type: ignore[attr-defined]
        if not (tag or "").startswith(_PYTHON) or tag in _DATA
    }
    multi = {
        prefix: _refuse if (prefix or "").startswith(_PYTHON) else function
        for prefix, function in base.yaml_multi_constructors.items()  # type: ignore[attr-defined]
    }
    return {
        "yaml_constructors": constructors,
        "yaml_multi_constructors": multi,
        "__module__": "regauge.compat.yaml",
        "__doc__": f"PyYAML's {base.__name__}, which constructs no Python objects here.",
    }


def _refuse_unsafe(self: Any, *arguments: Any, **options: Any) -> None:
    """Refuses to be created."""
    raise yaml.YAMLError(
        "regauge.compat.yaml has no UnsafeLoader: a document could call any function; use SafeLoader, "
        "or PyYAML itself for a file that you trust"
    )


SafeLoader: Any = yaml.SafeLoader
BaseLoader: Any = yaml.BaseLoader
FullLoader: Any = type("FullLoader", (yaml.FullLoader,), _safer(yaml.FullLoader))
Loader: Any = type("Loader", (yaml.Loader,), _safer(yaml.Loader))
UnsafeLoader: Any = type(
    "UnsafeLoader", (yaml.UnsafeLoader,), {**_safer(yaml.UnsafeLoader), "__init__": _refuse_unsafe}
)
ALL: dict[str, Any] = {
    "SafeLoader": SafeLoader, "BaseLoader": BaseLoader, "FullLoader": FullLoader, "Loader": Loader,
    "UnsafeLoader": UnsafeLoader,
}
if yaml.__with_libyaml__:
    ALL["CSafeLoader"] = yaml.CSafeLoader
    ALL["CBaseLoader"] = yaml.CBaseLoader
    ALL["CFullLoader"] = type("CFullLoader", (yaml.CFullLoader,), _safer(yaml.CFullLoader))
    ALL["CLoader"] = type("CLoader", (yaml.CLoader,), _safer(yaml.CLoader))
    ALL["CUnsafeLoader"] = type(
        "CUnsafeLoader", (yaml.CUnsafeLoader,),
        {**_safer(yaml.CUnsafeLoader), "__init__": _refuse_unsafe},
    )


def _each(loader: Any) -> tuple[Any, ...]:
    """Returns the loaders that a registration without a loader is for."""
    return (Loader, FullLoader, UnsafeLoader) if loader is None else (loader,)


def add_constructor(tag: str, constructor: Callable[..., Any], Loader: Any = None) -> None:  # noqa: N803
    """Registers a function that constructs the values of a tag from a loader and a node."""
    for one in _each(Loader):
        one.add_constructor(tag, constructor)


def add_multi_constructor(
    tag_prefix: str, multi_constructor: Callable[..., Any], Loader: Any = None  # noqa: N803
) -> None:
    """Registers a function for all tags with a prefix."""
    for one in _each(Loader):
        one.add_multi_constructor(tag_prefix, multi_constructor)


def add_implicit_resolver(
    tag: str, regexp: Any, first: Any = None, Loader: Any = None, Dumper: Any = yaml.Dumper  # noqa: N803
) -> None:
    """Gives plain scalars that match an expression a tag."""
    for one in (*_each(Loader), Dumper):
        one.add_implicit_resolver(tag, regexp, first)


def add_path_resolver(
    tag: str, path: Any, kind: Any = None, Loader: Any = None, Dumper: Any = yaml.Dumper  # noqa: N803
) -> None:
    """Gives the nodes at a path a tag."""
    for one in (*_each(Loader), Dumper):
        one.add_path_resolver(tag, path, kind)


class YAMLObject(metaclass=yaml.YAMLObjectMetaclass):  # type: ignore[metaclass]
    """A class whose subclasses with a yaml_tag load and dump themselves."""

    __slots__ = ()
    yaml_loader: Any = [Loader, FullLoader, UnsafeLoader]
    yaml_dumper: Any = yaml.Dumper
    yaml_tag: Any = None
    yaml_flow_style: Any = None

    from_yaml: Any = classmethod(yaml.YAMLObject.from_yaml.__func__)
    to_yaml: Any = classmethod(yaml.YAMLObject.to_yaml.__func__)
