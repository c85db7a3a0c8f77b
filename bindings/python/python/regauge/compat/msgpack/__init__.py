"""msgpack's interface over regauge: `from regauge.compat import msgpack`.

Has packb, unpackb, pack, unpack, Packer, Unpacker, ExtType, Timestamp and the exceptions, with all
keywords. docs/drop-ins.md lists the differences.
"""

from __future__ import annotations

from . import exceptions, ext
from ._pack import Packer, pack, packb
from ._unpack import Unpacker, unpack, unpackb
from .exceptions import (
    BufferFull,
    ExtraData,
    FormatError,
    OutOfData,
    PackException,
    PackOverflowError,
    PackValueError,
    StackError,
    UnpackException,
    UnpackValueError,
)
from .ext import ExtType, Timestamp

__all__ = [
    "BufferFull", "ExtType", "ExtraData", "FormatError", "OutOfData", "PackException",
    "PackOverflowError", "PackValueError", "Packer", "StackError", "Timestamp",
    "UnpackException", "UnpackValueError", "Unpacker", "dump", "dumps", "exceptions", "ext", "load",
    "loads", "pack", "packb", "unpack", "unpackb", "version",
]

# The version of msgpack whose interface this is.
version = (1, 2, 4)
__version__ = "1.2.4"

load = unpack
loads = unpackb
dump = pack
dumps = packb
