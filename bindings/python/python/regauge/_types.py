"""Types shared by the signatures."""

from __future__ import annotations

import enum
import os
from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol, Union


class Readable(Protocol):
    """A file opened in binary mode for reading."""

    def read(self, size: int = ..., /) -> bytes: ...


class Writable(Protocol):
    """A file opened in binary mode for writing."""

    def write(self, data: bytes, /) -> Any: ...


class TextReadable(Protocol):
    """A file opened in text mode for reading."""

    def read(self, size: int = ..., /) -> str: ...


class TextWritable(Protocol):
    """A file opened in text mode for writing."""

    def write(self, data: str, /) -> Any: ...


Data = Union[bytes, bytearray, memoryview, str]
Source = Union[str, "os.PathLike[str]", Readable]
Target = Union[str, "os.PathLike[str]", Writable]
AnySource = Union[Source, TextReadable]
AnyTarget = Union[Target, TextWritable]
Limits = Mapping[str, Union[int, None]]
OnLoss = Literal["refuse", "wrap", "approximate"]
Charset = Literal["auto", "utf8", "marc8"]
Delimiter = Literal["comma", "semicolon", "tab", "pipe", "colon", "space"]
PairsHook = Callable[["list[tuple[Any, Any]]"], Any]
Types = Mapping[str, Callable[..., Any]]
OnBad = Callable[[Exception, bytes], Any]


class Omit(enum.Enum):
    """The type of OMIT."""

    OMIT = "OMIT"

    def __repr__(self) -> str:
        return "regauge.OMIT"


OMIT = Omit.OMIT
"""What the function of `convert(map=…)` returns for a document that is to be left out."""
