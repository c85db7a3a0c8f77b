"""Loading: by regauge if that gives PyYAML's value, otherwise by PyYAML.

regauge loads a document that has only YAML's own tags, for a loader that treats these as PyYAML's
SafeLoader does; a subclass that adds constructors for other tags is one. If anything else
occurs (a tag with a constructor, a loader with other methods, an error), PyYAML loads the document
from the beginning: values, exceptions and their marks are then its own.
"""

from __future__ import annotations

import io
import re
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


_DIALECTS = {
    schema: _regauge.Dialect("yaml", _Conversions(), "", schema=schema)
    for schema in ("1.1", "failsafe")
}
_loads = _DIALECTS["1.1"].loads

# --- Which loaders read plain documents as SafeLoader does.

_CORE = dict(yaml.constructor.SafeConstructor.yaml_constructors)
_RESOLVERS = {
    first: list(resolvers) for first, resolvers in yaml.resolver.Resolver.yaml_implicit_resolvers.items()
}
_REGISTERED = {
    "yaml_constructors", "yaml_multi_constructors", "yaml_implicit_resolvers", "yaml_path_resolvers",
}
# What a class has without anything being overridden.
_HARMLESS = _REGISTERED | {
    "__doc__", "__module__", "__qualname__", "__dict__", "__weakref__", "__firstlineno__",
    "__static_attributes__", "__annotations__", "__slots__",
}
_KNOWN = {
    loader: "failsafe" if "Base" in name else "1.1"
    for name, loader in _classes.ALL.items()
    if "Unsafe" not in name
}
_bases: WeakKeyDictionary[type, str | None] = WeakKeyDictionary()


def _base(loader: type) -> str | None:
    """Returns the schema of a loader whose methods are PyYAML's; None for any other."""
    if loader not in _bases:
        found: str | None = None
        for one in loader.__mro__:
            if one in _KNOWN:
                found = _KNOWN[one]
                break
            if not set(vars(one)) <= _HARMLESS:
                break
        _bases[loader] = found
    return _bases[loader]


def _dialect(loader: Any) -> _regauge.Dialect | None:
    """Returns regauge's reader for a loader, or None if PyYAML has to load."""
    schema = _base(loader) if isinstance(loader, type) else None
    if schema is None:
        return None
    if loader.yaml_path_resolvers:
        return None
    if schema == "failsafe":
        unchanged = not loader.yaml_constructors and not loader.yaml_implicit_resolvers
        return _DIALECTS[schema] if unchanged and not loader.yaml_multi_constructors else None
    if loader.yaml_implicit_resolvers != _RESOLVERS:
        return None
    constructors = loader.yaml_constructors
    if constructors is not _CORE and constructors != _CORE:
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
    return _DIALECTS[schema]


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


# YAML 1.2, which regauge reads, allows more than PyYAML does, and differs in places. PyYAML loads
# every document with a text that may be such a place: a tab between tokens, the end of a document,
# a block scalar at the margin, a merge (whose keys PyYAML puts first), a directive, a byte order mark.
# They are looked for by a character that is rare.
_TEXTS = {
    "\t": ("\t",), "...": ("\n...",), "|": ("\n|",), ">": ("\n>",), "<": ("<<",), "%": ("\n%",),
    "\ufeff": ("\ufeff",),
}
_BEGIN = ("|", ">", ".", "%")
# In the lines with flow collections: a question mark, an indicator before text, a key of several lines, a tag
# before a comma. No part of the text is looked at from two places: a match never contains its own
# beginning again.
_FLOW = re.compile(
    r"""\?
    | (?: [\[{,] | \s ) : \S
    | ["'] : :
    | \n [^\S\n]* :
    | ! [^\s\[{!]* ,
    | ^ [^"\n]* (?: "[^"\n]*" [^"\n]* )* " [^"\n]* $
    | [\[{] [^\[\]{}\n]* [^\]}\[{,\s] [ ]* \n
    | , [ ]* \n [^\n,\[\]{}]* [^\n,\[\]{}\s] [ ]* \n""",
    re.MULTILINE | re.VERBOSE,
)
_ANCHOR = re.compile(r"(?:^|[\s\[{,])&([^\s,\[\]{}]*)")
_NAME = re.compile("[0-9A-Za-z_-]+")
_TOP = re.compile(r"^---[^\n]*[|>]", re.MULTILINE)
_VALUE_END = re.compile(r"=(?: *$| *[:,\]}]| +#)", re.MULTILINE)


def _differs(data: Any) -> bool:
    """Returns whether PyYAML may refuse a document that regauge reads, or read it differently."""
    if type(data) is bytes:
        try:
            data = data.decode()
        except UnicodeDecodeError:
            return True
    if type(data) is not str or data[:200].lstrip()[:1] in _BEGIN:
        return True
    for rare, texts in _TEXTS.items():
        if rare in data and any(text in data for text in texts):
            return True
    is_scalar = "|" in data or ">" in data
    # A block scalar at the end gets a line break.
    if data[-1:] != "\n" and (is_scalar or data[-1:] in (" ", "!")):
        return True
    if is_scalar and "---" in data and _TOP.search(data):
        return True
    if "=" in data and any(_is_node(data, found.start()) for found in _VALUE_END.finditer(data)):
        return True
    if not _may_differ(data):
        return False
    # Most of it stands in text, where it means nothing.
    found = _regauge.yaml_marks(data)
    if found is None:
        return True
    lines, anchors, has_bare_tag = found
    return has_bare_tag or any(map(_FLOW.search, lines)) or _are_odd(anchors)


def _is_node(data: str, at: int) -> bool:
    """Returns whether a node may begin at this index."""
    before = at
    while data[before - 1 : before] == " ":
        before -= 1
    last = data[before - 1 : before]
    return last in ("", "\n", "[", "{", ",") or before < at and last in ("-", ":", "?")


def _may_differ(data: str) -> bool:
    """Returns whether there is what may be such a flow collection, anchor or tag."""
    if ("[" in data or "{" in data) and _FLOW.search(data):
        return True
    if "!" in data and ("! " in data or "!\n" in data):
        return True
    return "&" in data and _are_odd(_ANCHOR.findall(data))


def _are_odd(anchors: list[str]) -> bool:
    """Returns whether an anchor occurs twice, or has a name that PyYAML does not allow."""
    return len(anchors) != len(set(anchors)) or not all(map(_NAME.fullmatch, anchors))


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
    if not _differs(data):
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
    if not _differs(data):
        documents, _, error = dialect.first(data, 1 << 60)
        if error is None and documents and all(one is not None for one in documents):
            yield from documents
            return
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
