"""Loading: by regauge if that gives PyYAML's value, otherwise by PyYAML.

regauge loads a document that has only YAML's own tags, for a loader that treats these as PyYAML's
SafeLoader does; a subclass that adds constructors for other tags is one. If anything else
occurs (a tag with a constructor, a loader with other methods, an error), PyYAML loads the document
from the beginning: values, exceptions and their marks are then its own.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any
from weakref import WeakKeyDictionary

from ... import _regauge, _values
from .._peer import Other, plain
from . import _classes
from ._peer import yaml

_SCALARS = (str, bytes)


class _Conversions:
    """What becomes of values that are not plain data."""

    Object = _values.Object

    @staticmethod
    def key(key: Any) -> Any:
        """Returns a key; PyYAML refuses sequences and absent keys."""
        if key is None or isinstance(key, tuple):
            raise Other
        return key

    @staticmethod
    def typed(origin: str, kind: str, name: str, value: Any, early: Any) -> Any:
        """Returns a set; PyYAML decides any other tag."""
        if name == "tag:yaml.org,2002:set" and early is None and type(value) is dict:
            return set(value)
        raise Other

    @staticmethod
    def datetime(text: str) -> Any:
        """Returns a datetime, cut to microseconds."""
        head, point, tail = text.partition(".")
        if point:
            digits = len(tail) - len(tail.lstrip("0123456789"))
            text = f"{head}.{tail[:digits][:6]}{tail[digits:]}"
        return plain(_values.datetime(text))

    @staticmethod
    def timestamp(seconds: int, nanoseconds: int) -> Any:
        """Returns a datetime in UTC, cut to microseconds."""
        return plain(_values.timestamp(seconds, nanoseconds // 1000 * 1000))

    @staticmethod
    def date(text: str) -> Any:
        """Returns a date."""
        return plain(_values.date(text))


def _reads(schema: str, special: str) -> _regauge.Dialect:
    return _regauge.Dialect("yaml", _Conversions(), f"quiet no_differences {special}", schema=schema)


_PLAIN = _reads("1.1", "")
_TEXT_TIMES = _reads("1.1", "text_times")
# BaseLoader has no tags: a tagged scalar is text, a tagged mapping a dict.
_FAILSAFE = _reads("failsafe", "no_tags no_empty_keys")

# --- Which loaders read plain documents as SafeLoader does.

_TIME = "tag:yaml.org,2002:timestamp"
_CORE = dict(yaml.constructor.SafeConstructor.yaml_constructors)
_RESOLVERS = {
    first: list(resolvers) for first, resolvers in yaml.resolver.Resolver.yaml_implicit_resolvers.items()
}
# A loader without timestamps is a common subclass.
_WITHOUT_TIMES = {
    first: [resolver for resolver in resolvers if resolver[0] != _TIME]
    for first, resolvers in _RESOLVERS.items()
}
_REGISTERED = (
    "yaml_constructors", "yaml_multi_constructors", "yaml_implicit_resolvers", "yaml_path_resolvers",
)
# What a class has without anything being overridden.
_HARMLESS = {
    *_REGISTERED, "__doc__", "__module__", "__qualname__", "__dict__", "__weakref__", "__firstlineno__",
    "__static_attributes__", "__annotations__", "__slots__",
}
_KNOWN = {
    loader: "failsafe" if "Base" in name else "1.1"
    for name, loader in _classes.ALL.items()
    if "Unsafe" not in name
}
# What reads for a loader, as long as nothing else is registered with it.
_Ready = tuple[_regauge.Registered, _regauge.Dialect]
_known: dict[Any, _Ready] = {}
_others: WeakKeyDictionary[type, _Ready] = WeakKeyDictionary()


def _dialect(loader: Any) -> _regauge.Dialect | None:
    """Returns regauge's reader for a loader, or None if PyYAML has to load."""
    if not isinstance(loader, type):
        return None
    ready = _known.get(loader) or _others.get(loader)
    if ready is not None and ready[0].is_same(loader):
        return ready[1]
    found = _suitable(loader)
    if found is not None:
        place: Any = _known if loader in _KNOWN else _others
        place[loader] = _regauge.Registered(loader, _REGISTERED), found
    return found


def _base(loader: type) -> str | None:
    """Returns the schema of a loader whose methods are PyYAML's; None for any other."""
    for one in loader.__mro__:
        if one in _KNOWN:
            return _KNOWN[one]
        if not set(vars(one)) <= _HARMLESS:
            break
    return None


def _suitable(loader: Any) -> _regauge.Dialect | None:
    """Returns the reader for what is registered with a loader."""
    schema = _base(loader)
    if schema is None or loader.yaml_path_resolvers:
        return None
    if schema == "failsafe":
        unchanged = not loader.yaml_constructors and not loader.yaml_implicit_resolvers
        return _FAILSAFE if unchanged and not loader.yaml_multi_constructors else None
    resolvers = loader.yaml_implicit_resolvers
    if resolvers != _RESOLVERS and resolvers != _WITHOUT_TIMES:
        return None
    constructors = loader.yaml_constructors
    if constructors != _CORE:
        for tag, function in _CORE.items():
            # None is the constructor of unknown tags, which regauge leaves to PyYAML.
            if tag is not None and constructors.get(tag) is not function:
                return None
        for tag in constructors:
            if tag not in _CORE and (tag or "").startswith("tag:yaml.org,2002:") and "python/" not in tag:
                return None
    for prefix in loader.yaml_multi_constructors:
        if prefix is None or "tag:yaml.org,2002:python/".startswith(prefix) and "python" not in prefix:
            return None
    return _PLAIN if resolvers == _RESOLVERS else _TEXT_TIMES


# --- The functions.


def _read(stream: Any) -> tuple[Any, Any]:
    """Returns the text or the bytes of a stream, and what PyYAML can read again."""
    if isinstance(stream, _SCALARS):
        return stream, stream
    data = stream.read()
    again: Any = io.StringIO(data) if isinstance(data, str) else io.BytesIO(data)
    name = getattr(stream, "name", None)
    if name is not None:
        again = _Named(data, name)
    return data, again


class _Named:
    """A file object with a name, which the marks of errors show."""

    def __init__(self, data: Any, name: Any) -> None:
        made: Any = io.StringIO(data) if isinstance(data, str) else io.BytesIO(data)
        self.read = made.read
        self.name = name


def load(stream: Any, Loader: Any) -> Any:  # noqa: N803
    """Returns the value of the only document in a stream."""
    dialect = _dialect(Loader)
    if dialect is None:
        return yaml.load(stream, Loader)
    data, again = (stream, stream) if isinstance(stream, _SCALARS) else _read(stream)
    try:
        value = dialect.loads(data)
        # PyYAML refuses the end of a document without content.
        if value is not None:
            return value
    except Exception:
        pass
    # Outside of the handler: the exception has no context.
    return yaml.load(again, Loader)


def load_all(stream: Any, Loader: Any) -> Iterator[Any]:  # noqa: N803
    """Yields the values of the documents in a stream."""
    dialect = _dialect(Loader)
    if dialect is None:
        yield from yaml.load_all(stream, Loader)
        return
    data, again = _read(stream)
    try:
        documents, _, error = dialect.first(data, 1 << 60)
    except Exception:
        documents, error = [], None
    if error is None and documents and all(one is not None for one in documents):
        yield from documents
    else:
        yield from yaml.load_all(again, Loader)


def safe_load(stream: Any) -> Any:
    """Returns the value of the only document in a stream, of plain data."""
    return load(stream, _classes.SafeLoader)


def safe_load_all(stream: Any) -> Iterator[Any]:
    """Yields the values of the documents in a stream, of plain data."""
    return load_all(stream, _classes.SafeLoader)


def full_load(stream: Any) -> Any:
    """Returns the value of the only document in a stream; FullLoader constructs no objects here."""
    return load(stream, _classes.FullLoader)


def full_load_all(stream: Any) -> Iterator[Any]:
    """Yields the values of the documents in a stream; FullLoader constructs no objects here."""
    return load_all(stream, _classes.FullLoader)


def unsafe_load(stream: Any) -> Any:
    """Raises YAMLError: nothing that a document names is called."""
    return load(stream, _classes.UnsafeLoader)


def unsafe_load_all(stream: Any) -> Iterator[Any]:
    """Raises YAMLError: nothing that a document names is called."""
    return load_all(stream, _classes.UnsafeLoader)
