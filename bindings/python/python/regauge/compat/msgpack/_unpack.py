"""Unpacking: unpackb and Unpacker."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ... import _regauge
from ..._errors import DecodeError
from .exceptions import BufferFull, ExtraData, OutOfData, translated
from .ext import ExtType, Timestamp

_TIMES: tuple[Callable[[int, int], Any], ...] = (
    Timestamp,
    lambda seconds, nanoseconds: Timestamp(seconds, nanoseconds).to_unix(),
    lambda seconds, nanoseconds: Timestamp(seconds, nanoseconds).to_unix_nano(),
    lambda seconds, nanoseconds: Timestamp(seconds, nanoseconds).to_datetime(),
)
# The data is in memory already.
# How many values Unpacker parses at a time.
_AHEAD = 64
_LIMITS = {"depth": 1024, "token_bytes": None, "record_bytes": None}


class Conversions:
    """What becomes of values that are not plain data; attributes that a call does not need are absent.

    Other arguments than these are hooks of regauge's own loads.
    """

    ExtType = ExtType

    def __init__(
        self,
        raw: bool = False,
        use_list: bool = True,
        strict_map_key: bool = True,
        timestamp: int = 0,
        unicode_errors: str | None = None,
        list_hook: Callable[[Any], Any] | None = None,
        lengths: dict[str, int] | None = None,
    ) -> None:
        if not 0 <= timestamp <= 3:
            raise ValueError("timestamp must be 0..3")
        self.timestamp = _TIMES[timestamp]
        self.errors = unicode_errors or "strict"
        if raw:
            self.text = str.encode
            self.errors = "raw"
        if not use_list:
            self.array = tuple if list_hook is None else lambda items: list_hook(tuple(items))
        elif list_hook is not None:
            self.array = list_hook
        if strict_map_key:
            self.key = _strict_key
        self.lengths = lengths or {}
        if lengths:
            self.length = self._length

    def BrokenText(self, data: bytes) -> Any:  # noqa: N802
        """Returns text that is not UTF-8, or raises UnicodeDecodeError."""
        self._length("str", len(data))
        return data if self.errors == "raw" else data.decode("utf-8", self.errors)

    def _length(self, what: str, length: int) -> None:
        most = self.lengths.get(what)
        if most is not None and length > most:
            raise ValueError(f"{length} exceeds max_{what}_len({most})")


def _strict_key(key: Any) -> Any:
    """Returns a key that is bytes or text, and refuses others."""
    if isinstance(key, (str, bytes)):
        return key
    name = type(key).__name__
    raise ValueError(f"{name} is not allowed for map key when strict_map_key=True")


@functools.lru_cache(64)
def _without_hooks(*arguments: Any) -> _regauge.Dialect:
    return _regauge.Dialect("msgpack", Conversions(*arguments), "", limits=_LIMITS)


def _dialect(
    use_list: bool = True,
    raw: bool = False,
    timestamp: int = 0,
    strict_map_key: bool = True,
    unicode_errors: str | None = None,
    object_hook: Callable[[Any], Any] | None = None,
    object_pairs_hook: Callable[[Any], Any] | None = None,
    list_hook: Callable[[Any], Any] | None = None,
    ext_hook: Callable[[int, bytes], Any] = ExtType,
    lengths: dict[str, int] | None = None,
) -> _regauge.Dialect:
    """Returns the reader with these arguments of unpackb."""
    first = (bool(raw), bool(use_list), bool(strict_map_key), timestamp, unicode_errors)
    if (
        object_hook is object_pairs_hook is list_hook is None
        and ext_hook is ExtType
        and lengths is None
    ):
        return _without_hooks(*first)
    for name, hook in (
        ("list_hook", list_hook),
        ("object_hook", object_hook),
        ("object_pairs_hook", object_pairs_hook),
    ):
        if hook is not None and not callable(hook):
            raise TypeError(f"`{name}` is not callable")
    if not callable(ext_hook):
        raise TypeError("`ext_hook` is not callable")
    if object_hook is not None and object_pairs_hook is not None:
        raise TypeError("object_pairs_hook and object_hook are mutually exclusive")

    def extension(code: int, data: bytes) -> Any:
        # A timestamp of an invalid length or with too many nanoseconds.
        return Timestamp.from_bytes(data) if code == -1 else ext_hook(code, data)

    return _regauge.Dialect(
        "msgpack",
        Conversions(*first, list_hook=list_hook, lengths=lengths),
        "",
        limits=_LIMITS,
        object_hook=object_hook,
        object_pairs_hook=object_pairs_hook,
        ext_hook=None if ext_hook is ExtType else extension,
    )


_plain = _without_hooks()
_loads = _plain.loads


def unpackb(packed: Any, **options: Any) -> Any:
    """Returns the value in some bytes.

    use_list -- returns arrays as lists, otherwise as tuples
    raw -- returns text as bytes
    timestamp -- returns timestamps as 0: Timestamp, 1: float, 2: int of nanoseconds, 3: datetime
    strict_map_key -- refuses keys that are neither text nor bytes
    object_hook, object_pairs_hook, list_hook -- called with each dict, list of pairs, list
    ext_hook -- called with code and payload of an extension
    unicode_errors -- error handler of bytes.decode
    max_str_len, max_bin_len, max_array_len, max_map_len, max_ext_len -- limits

    Raises ExtraData, FormatError, StackError, and ValueError for incomplete input.
    """
    if type(packed) is str:
        raise TypeError("found str, expected bytes or another buffer")
    loads = _of(dict(options)).loads if options else _loads
    try:
        return loads(packed)
    except DecodeError as error:
        dialect = _of(dict(options)) if options else _plain
        raise _failed(error, packed, dialect) from error
    except TypeError:
        # Memory that is not in one piece.
        if type(packed) is not memoryview or packed.contiguous:
            raise
        return unpackb(bytes(packed), **options)


def _failed(error: DecodeError, packed: Any, dialect: _regauge.Dialect) -> Exception:
    """Returns msgpack's exception for one of regauge's."""
    if error.kind == "syntax" and error.offset:
        values, end, _ = dialect.first(packed, 1)
        if values and end == error.offset:
            return ExtraData(values[0], bytes(memoryview(packed).cast("B")[end:]))
    return translated(error)


def _of(options: dict[str, Any]) -> _regauge.Dialect:
    """Returns the reader with the arguments of a caller."""
    lengths = {}
    for what in ("str", "bin", "array", "map", "ext"):
        most = options.pop(f"max_{what}_len", -1)
        if most != -1:
            lengths[what] = most
    return _dialect(**options, lengths=lengths or None)


def unpack(stream: Any, **options: Any) -> Any:
    """Returns the value in a file object; takes the arguments of unpackb."""
    return unpackb(stream.read(), **options)


class Unpacker:
    """Unpacks a stream of values, from a file object or from pieces given to feed().

    file_like -- a file object; without one, feed() takes the bytes
    read_size -- how much is read from the file at a time
    max_buffer_size -- how much may wait to be unpacked; 0 for no limit

    The other arguments are those of unpackb. Of a value that arrives in pieces, only its end is looked for
    until all of it is there, or twice as much of it as was parsed last.
    """

    def __init__(
        self,
        file_like: Any = None,
        *,
        read_size: int = 0,
        max_buffer_size: int = 100 * 1024 * 1024,
        **options: Any,
    ) -> None:
        if file_like is not None and not callable(file_like.read):
            raise TypeError("`file_like.read` must be callable")
        limited = max_buffer_size != 100 * 1024 * 1024
        self._max = max_buffer_size or 2**31 - 1
        if read_size > self._max:
            raise ValueError("read_size must be smaller than max_buffer_size")
        self._read_size = read_size or min(self._max, 16 * 1024)
        if limited:
            for what, most in (("array", self._max), ("map", self._max // 2)):
                if options.get(f"max_{what}_len", -1) == -1:
                    options[f"max_{what}_len"] = most
        hooks = [options.get(name) for name in _HOOKS]
        lengths = {name: options[name] for name in options if name.startswith("max_")}
        self._file = file_like
        self._dialect = _of(options)
        # Whether a value is complete must not depend on the hooks, which run once.
        self._check = _of({**lengths, "strict_map_key": False, "raw": True})
        self._hooked = any(hook is not None for hook in hooks)
        self._buffer = bytearray()
        self._at = 0
        # What looks for the end of a value that was cut off, and how much of it was parsed.
        self._cut: _regauge.Splitter | None = None
        self._parsed = 0
        # Values that were parsed ahead, the next one last; how many of them were taken since the
        # position was known, and where they end in the buffer.
        self._ahead: list[Any] = []
        self._taken = 0
        self._end = 0
        self._offset = 0
        self._busy = False

    def feed(self, next_bytes: Any) -> None:
        """Adds a piece of the stream."""
        if self._file is not None:
            raise AssertionError("unpacker.feed() is not be able to use with `file_like`.")
        if self._busy:
            raise RuntimeError("a hook cannot use the unpacker that called it")
        self._append(bytes(next_bytes))

    def _append(self, piece: bytes) -> None:
        self._settle()
        if len(self._buffer) - self._at + len(piece) > self._max:
            raise BufferFull
        self._end -= self._at
        del self._buffer[: self._at]
        self._buffer += piece
        self._at = 0

    def _more(self) -> bool:
        """Reads a piece from the file; returns whether there was one."""
        if self._file is None:
            return False
        waiting = len(self._buffer) - self._at
        if waiting >= self._max:
            raise BufferFull
        piece = self._file.read(min(self._read_size, self._max - waiting))
        if not piece:
            return False
        self._append(bytes(piece))
        return True

    def _next(self, dialect: _regauge.Dialect) -> Any:
        """Returns the next value."""
        if self._busy:
            raise RuntimeError("a hook cannot use the unpacker that called it")
        self._settle()
        if dialect is not self._dialect:
            self._ahead.clear()
        elif self._ahead:
            self._taken = 1
            return self._ahead.pop()
        while True:
            if self._at == len(self._buffer):
                if not self._more():
                    raise OutOfData("No more data to unpack.")
                continue
            waiting = len(self._buffer) - self._at
            if self._cut is not None and waiting < 2 * self._parsed and not self._ends(self._cut):
                if not self._more():
                    raise OutOfData("No more data to unpack.")
                continue
            checks = self._hooked and dialect is not self._check
            ahead = 1 if checks or dialect is self._check else _AHEAD
            values, end, error = self._first(self._check if checks else dialect, count=ahead)
            if values:
                break
            if not isinstance(error, DecodeError):
                # A length, or a key that is refused: the stream continues after the value.
                self._skip(self._first(self._check)[1])
                raise error
            if error.kind != "truncated":
                raise translated(error) from error
            self._cut, self._parsed = self._cut or _regauge.Splitter(), waiting
            if not self._more():
                raise OutOfData("No more data to unpack.")
        if not checks:
            values.reverse()
            self._ahead, self._end, self._taken = values, self._at + end, 1
            return values.pop()
        self._busy = True
        try:
            values, _, error = self._first(dialect, end)
        finally:
            self._busy = False
        self._skip(end)
        if error is not None:
            raise error if not isinstance(error, DecodeError) else translated(error)
        return values[0]

    def _first(self, dialect: _regauge.Dialect, size: int | None = None, count: int = 1) -> Any:
        """Parses the next values: returns a list of them, their size, and what was wrong."""
        # A buffer cannot grow while it is looked at.
        with memoryview(self._buffer) as all:
            end = None if size is None else self._at + size
            return dialect.first(all[self._at : end], count)

    def _ends(self, splitter: _regauge.Splitter) -> bool:
        """Returns whether all of the next value is there."""
        with memoryview(self._buffer) as all:
            return splitter.end(all[self._at :]) > 0

    def _settle(self) -> None:
        """Moves the position after the values that were taken."""
        if not self._taken:
            return
        if self._ahead:
            end = self._at
            with memoryview(self._buffer) as all:
                for _ in range(self._taken):
                    end += _regauge.Splitter().end(all[end:])
        else:
            end = self._end
        self._taken = 0
        self._skip(end - self._at)

    def _skip(self, count: int) -> None:
        self._at += count
        self._offset += count
        self._cut = None

    def __iter__(self) -> Unpacker:
        return self

    def __next__(self) -> Any:
        if self._ahead and not self._busy:
            self._taken += 1
            return self._ahead.pop()
        try:
            return self._next(self._dialect)
        except OutOfData:
            raise StopIteration from None

    next = __next__

    def unpack(self) -> Any:
        """Returns the next value; raises OutOfData if it is not complete."""
        return self._next(self._dialect)

    def skip(self) -> None:
        """Passes over the next value."""
        self._next(self._check)

    def _count(self, what: str, short: int, most: int, wide: int) -> int:
        """Reads the header of an array or a map."""
        self._settle()
        self._ahead.clear()
        while self._at == len(self._buffer):
            if not self._more():
                raise OutOfData("No more data to unpack.")
        first = self._buffer[self._at]
        if short <= first <= short + most:
            self._skip(1)
            return first - short
        if first not in (wide, wide + 1):
            raise ValueError(f"Expected {what}")
        size = 3 if first == wide else 5
        while len(self._buffer) - self._at < size:
            if not self._more():
                raise OutOfData("No more data to unpack.")
        self._skip(size)
        return int.from_bytes(self._buffer[self._at - size + 1 : self._at], "big")

    def read_array_header(self) -> int:
        """Returns how many items an array has, which are unpacked next."""
        return self._count("array", 0x90, 15, 0xDC)

    def read_map_header(self) -> int:
        """Returns how many pairs a map has, which are unpacked next."""
        return self._count("map", 0x80, 15, 0xDE)

    def read_bytes(self, n: int) -> bytes:
        """Returns the next bytes as they are, at most so many."""
        self._settle()
        self._ahead.clear()
        while len(self._buffer) - self._at < n and self._more():
            pass
        found = bytes(self._buffer[self._at : self._at + n])
        self._skip(len(found))
        return found

    def tell(self) -> int:
        """Returns the offset in the stream."""
        self._settle()
        return self._offset


_HOOKS = ("object_hook", "object_pairs_hook", "list_hook", "ext_hook")
