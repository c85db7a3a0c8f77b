"""Dumping: by regauge if that writes PyYAML's text, otherwise by PyYAML.

regauge writes one document of dicts with text as keys, lists, ints, floats, bools, None and text that
both write plainly on one line, in block style with an indentation of 2. Everything else is
PyYAML's: the text is the same either way, and tests compare it.
"""

from __future__ import annotations

import re
from typing import Any
from weakref import WeakKeyDictionary

from ... import _regauge
from ._load import _HARMLESS
from ._peer import yaml

_dumps = _regauge.yaml.dumps

# Text that needs no quotes, whatever surrounds it.
_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./@+-]*(?: [A-Za-z0-9_./@+(][A-Za-z0-9_./@+()-]*)*", re.ASCII)
_WORDS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"))
# Where PyYAML may break a line, less room for a colon.
_WIDTH = 76

_REPRESENTERS = dict(yaml.representer.SafeRepresenter.yaml_representers)
_RESOLVERS = {
    first: list(resolvers) for first, resolvers in yaml.resolver.Resolver.yaml_implicit_resolvers.items()
}
_KNOWN = {yaml.Dumper, yaml.SafeDumper}
if yaml.__with_libyaml__:
    _KNOWN |= {yaml.CDumper, yaml.CSafeDumper}
_bases: WeakKeyDictionary[type, bool] = WeakKeyDictionary()
# Exactly the types that regauge writes: a dumper that represents others itself is no matter.
_TYPES = (dict, list, str, int, float, bool, type(None))


def _is_plain(dumper: Any) -> bool:
    """Returns whether a dumper writes plain data as PyYAML's own do."""
    if not isinstance(dumper, type):
        return False
    if dumper not in _bases:
        _bases[dumper] = False
        for one in dumper.__mro__:
            if one in _KNOWN:
                _bases[dumper] = True
                break
            if not set(vars(one)) <= _HARMLESS | {"yaml_representers", "yaml_multi_representers"}:
                break
    registered: Any = dumper
    if not _bases[dumper] or registered.yaml_path_resolvers:
        return False
    if registered.yaml_implicit_resolvers != _RESOLVERS:
        return False
    own = registered.yaml_representers
    return all(own.get(one) is _REPRESENTERS[one] for one in _TYPES)


def _text(value: str) -> bool:
    """Returns whether a text is written without quotes."""
    return _PLAIN.fullmatch(value) is not None and value.lower() not in _WORDS


def _same(value: Any, column: int, seen: set[int]) -> bool:
    """Returns whether PyYAML writes the same text for a value that begins at a column."""
    cls = type(value)
    if cls is str:
        return _text(value) and (column + len(value) <= _WIDTH or " " not in value)
    if cls is int or cls is bool or value is None:
        return True
    if cls is float:
        return bool(value == 0 or 1e-4 <= abs(value) < 1e15)
    if cls is not dict and cls is not list:
        return False
    # A container that occurs twice gets an anchor.
    if id(value) in seen or column > _WIDTH:
        return False
    seen.add(id(value))
    if cls is list:
        return all(_same(item, column + 2, seen) for item in value)
    for key, item in value.items():
        if type(key) is not str or len(key) > 100 or not _text(key):
            return False
        under = type(item) in (dict, list)
        if not _same(item, column + 2 if under else column + len(key) + 2, seen):
            return False
    return True


def _is_default(options: dict[str, Any]) -> bool:
    """Returns whether the options are those that regauge writes."""
    for name, value in options.items():
        if name == "default_flow_style":
            if value is not False:
                return False
        elif name == "indent":
            if value not in (None, 2):
                return False
        elif name == "width":
            if value is not None and not (isinstance(value, (int, float)) and value >= 80):
                return False
        elif name == "encoding":
            if value not in (None, "utf-8"):
                return False
        elif name in ("allow_unicode", "sort_keys", "explicit_start"):
            if value not in (None, True, False):
                return False
        elif value not in (None, False):
            return False
    return True


def dump_all(documents: Any, stream: Any = None, Dumper: Any = yaml.Dumper, **options: Any) -> Any:  # noqa: N803
    """Writes documents to a stream, or returns the text; takes the keywords of PyYAML."""
    encoding = options.get("encoding")
    if (
        type(documents) is list
        and len(documents) == 1
        and type(documents[0]) in (dict, list)
        and (encoding is None or stream is None)
        and (documents[0] or not options.get("explicit_start"))
        and _is_default(options)
        and _is_plain(Dumper)
        and _same(documents[0], 0, set())
    ):
        text = _dumps(
            documents[0],
            sort_keys=bool(options.get("sort_keys", True)),
            document_start=bool(options.get("explicit_start")),
            text=encoding is None,
        )
        if stream is None:
            return text
        stream.write(text)
        if hasattr(stream, "flush"):
            stream.flush()
        return None
    return yaml.dump_all(documents, stream, Dumper=Dumper, **options)


def dump(data: Any, stream: Any = None, Dumper: Any = yaml.Dumper, **options: Any) -> Any:  # noqa: N803
    """Writes a value to a stream, or returns the text; takes the keywords of PyYAML."""
    return dump_all([data], stream, Dumper, **options)


def safe_dump_all(documents: Any, stream: Any = None, **options: Any) -> Any:
    """Writes documents of plain data to a stream, or returns the text."""
    return dump_all(documents, stream, yaml.SafeDumper, **options)


def safe_dump(data: Any, stream: Any = None, **options: Any) -> Any:
    """Writes a value of plain data to a stream, or returns the text."""
    return dump_all([data], stream, yaml.SafeDumper, **options)
