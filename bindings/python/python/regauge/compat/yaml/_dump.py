"""Dumping: by regauge if that writes PyYAML's text, otherwise by PyYAML.

regauge writes one document of dicts with text as keys, lists, ints, floats, bools, None and text that
both write plainly on one line, in block style with an indentation of 2. Everything else is
PyYAML's: the text is the same either way, and tests compare it.
"""

from __future__ import annotations

import itertools
from typing import Any
from weakref import WeakKeyDictionary

from ... import _regauge
from .._peer import other
from ._load import _HARMLESS
from ._peer import yaml


class _Conversions:
    """Leaves every value that is not plain data to PyYAML."""

    lower = staticmethod(other)


# By sort_keys, explicit_start, and whether the result is text.
_WRITERS = {
    (sort_keys, start, text): _regauge.Dialect(
        "yaml", _Conversions(), "bare bytes quiet surrogates tuples",
        sort_keys=sort_keys, document_start=start, text=text,
    ).dumps
    for sort_keys, start, text in itertools.product((False, True), repeat=3)
}
_write = _WRITERS[True, False, True]

_REPRESENTERS = dict(yaml.representer.SafeRepresenter.yaml_representers)
_RESOLVERS = {
    first: list(resolvers) for first, resolvers in yaml.resolver.Resolver.yaml_implicit_resolvers.items()
}
_REGISTERED = ("yaml_representers", "yaml_implicit_resolvers", "yaml_path_resolvers")
_SafeDumper: Any = yaml.SafeDumper
_KNOWN = {yaml.Dumper, _SafeDumper}
if yaml.__with_libyaml__:
    _KNOWN |= {yaml.CDumper, yaml.CSafeDumper}
# Exactly the types that regauge writes: a dumper that represents others itself is no matter.
_TYPES = (dict, list, str, int, float, bool, type(None))
# Dumpers that write plain data as PyYAML's own do, as long as nothing else is registered with them.
_known: dict[Any, _regauge.Registered] = {}
_others: WeakKeyDictionary[type, _regauge.Registered] = WeakKeyDictionary()


def _is_plain(dumper: Any) -> bool:
    """Returns whether a dumper writes plain data as PyYAML's own do."""
    if not isinstance(dumper, type):
        return False
    known: Any = _known if dumper in _KNOWN else _others
    registered = known.get(dumper)
    if registered is not None and registered.is_same(dumper):
        return True
    if not _is_suitable(dumper):
        return False
    known[dumper] = _regauge.Registered(dumper, _REGISTERED)
    return True


def _is_suitable(dumper: Any) -> bool:
    """Returns the same by what is registered with it."""
    for one in dumper.__mro__:
        if one in _KNOWN:
            break
        if not set(vars(one)) <= _HARMLESS | {"yaml_representers", "yaml_multi_representers"}:
            return False
    else:
        return False
    if dumper.yaml_path_resolvers or dumper.yaml_implicit_resolvers != _RESOLVERS:
        return False
    own = dumper.yaml_representers
    return all(own.get(one) is _REPRESENTERS[one] for one in _TYPES)


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


def _written(data: Any, stream: Any, dumper: Any, options: dict[str, Any]) -> Any:
    """Returns the text of a document; None if PyYAML has to write it."""
    write = _write
    if type(data) is not dict and type(data) is not list:
        return None
    if options:
        encoding, start = options.get("encoding"), bool(options.get("explicit_start"))
        if not _is_default(options) or (encoding and stream is not None) or (start and not data):
            return None
        write = _WRITERS[bool(options.get("sort_keys", True)), start, encoding is None]
    registered = _known.get(dumper)
    if (registered is None or not registered.is_same(dumper)) and not _is_plain(dumper):
        return None
    try:
        return write(data)
    except Exception:
        return None


def dump_all(documents: Any, stream: Any = None, Dumper: Any = yaml.Dumper, **options: Any) -> Any:  # noqa: N803
    """Writes documents to a stream, or returns the text; takes the keywords of PyYAML."""
    if type(documents) is list and len(documents) == 1:
        return dump(documents[0], stream, Dumper, **options)
    return yaml.dump_all(documents, stream, Dumper=Dumper, **options)


def dump(data: Any, stream: Any = None, Dumper: Any = yaml.Dumper, **options: Any) -> Any:  # noqa: N803
    """Writes a value to a stream, or returns the text; takes the keywords of PyYAML."""
    text = _written(data, stream, Dumper, options)
    if text is None:
        return yaml.dump(data, stream, Dumper, **options)
    if stream is None:
        return text
    stream.write(text)
    if hasattr(stream, "flush"):
        stream.flush()
    return None


def safe_dump_all(documents: Any, stream: Any = None, **options: Any) -> Any:
    """Writes documents of plain data to a stream, or returns the text."""
    return dump_all(documents, stream, yaml.SafeDumper, **options)


def safe_dump(data: Any, stream: Any = None, **options: Any) -> Any:
    """Writes a value of plain data to a stream, or returns the text."""
    # The common call, without a detour.
    if stream is None and not options:
        text = _written(data, None, _SafeDumper, options)
        return text if text is not None else yaml.dump(data, None, _SafeDumper)
    return dump(data, stream, _SafeDumper, **options)
