import json
from collections.abc import Callable
from typing import Any

def dumps(
    obj: Any, /, default: Callable[[Any], Any] | None = None, option: int | None = None
) -> bytes: ...
def loads(obj: bytes | bytearray | memoryview | str, /) -> Any: ...

class JSONDecodeError(json.JSONDecodeError): ...
class JSONEncodeError(TypeError): ...

class Fragment(tuple[Any, ...]):
    contents: bytes | str
    def __new__(cls, contents: bytes | str) -> Fragment: ...

OPT_APPEND_NEWLINE: int
OPT_INDENT_2: int
OPT_NAIVE_UTC: int
OPT_NON_STR_KEYS: int
OPT_OMIT_MICROSECONDS: int
OPT_PASSTHROUGH_DATACLASS: int
OPT_PASSTHROUGH_DATETIME: int
OPT_PASSTHROUGH_SUBCLASS: int
OPT_SERIALIZE_DATACLASS: int
OPT_SERIALIZE_NUMPY: int
OPT_SERIALIZE_UUID: int
OPT_SORT_KEYS: int
OPT_STRICT_INTEGER: int
OPT_UTC_Z: int
