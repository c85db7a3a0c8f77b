"""The functions of every format's module."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from . import _files, _regauge


class Functions(NamedTuple):
    """The functions of one format."""

    loads: Callable[..., Any]
    dumps: Callable[..., Any]
    load: Callable[..., Any]
    dump: Callable[..., None]
    iter_load: Callable[..., _regauge.Documents]
    Writer: Callable[..., _regauge.Writer]
    events: Callable[..., _regauge.Events]
    parse_events: Callable[..., None]


def functions(name: str) -> Functions:
    """Returns the functions of the format of that name."""
    native = getattr(_regauge, name.replace("-", ""))

    def load(source: Any, /, **options: Any) -> Any:
        """Returns the value in a file, given as a path or file object; takes the options of loads."""
        return native.loads(_files.read(source), **options)

    def dump(value: Any, target: Any, /, **options: Any) -> None:
        """Writes a value to a file, given as a path or file object; takes the options of dumps.

        A file object opened in text mode gets text, if the format has text=.
        """
        _files.write(target, name, partial(native.dumps, value), options)

    def iter_load(source: Any, /, **options: Any) -> _regauge.Documents:
        """Yields the documents of a stream one by one, in bounded memory.

        The source is a path, a file object opened in binary mode, or bytes; takes the options of
        loads. Streams of records also take bad='skip', which skips broken ones, and
        on_bad(error, data), which is called for each.
        """
        return _regauge.iter_load(name, source, options or None)

    def Writer(target: Any, /, **options: Any) -> _regauge.Writer:  # noqa: N802
        """Returns a writer for a stream: `with Writer(path) as writer: writer.write(value)`.

        The target is a path or a file object opened in binary mode; takes the options of dumps.
        """
        return _regauge.writer(name, target, options or None)

    def events(source: Any, /, **options: Any) -> _regauge.Events:
        """Yields the events of a stream one by one, in bounded memory: see regauge.events.

        The source is a path, a file object opened in binary mode, or bytes; takes the options of
        loads, except object_hook and object_pairs_hook.
        """
        return _regauge.events(name, source, options or None)

    def parse_events(source: Any, handler: Any, /, **options: Any) -> None:
        """Calls the methods of a handler with the events of a stream: see regauge.parse_events."""
        _regauge.parse_events(name, source, handler, options or None)

    made = Functions(
        native.loads, native.dumps, load, dump, iter_load, Writer, events, parse_events
    )
    for function in made[2:]:
        function.__qualname__ = function.__name__
        function.__module__ = native.__name__
    return made
