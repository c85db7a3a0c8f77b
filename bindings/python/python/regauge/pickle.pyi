from collections.abc import Callable
from typing import Any, Literal

from ._regauge import Documents
from ._regauge import Writer as _Writer
from ._types import Data, Limits, OnLoss, PairsHook, Source, Target, Types

__all__ = ["Writer", "dump", "dumps", "iter_load", "load", "loads"]

def loads(
    data: Data,
    /,
    *,
    limits: Limits | None = None,
    on_loss: OnLoss | None = None,
    duplicate_keys: Literal["last", "refuse"] | None = None,
    object_hook: Callable[[dict[Any, Any]], Any] | None = None,
    object_pairs_hook: PairsHook | None = None,
    types: Types | None = None,
    strings: Literal["ascii", "utf8", "latin1", "bytes"] | None = None,
) -> Any: ...
def dumps(
    value: Any,
    /,
    *,
    limits: Limits | None = None,
    on_loss: OnLoss | None = None,
    objects: Literal["refuse", "wrap", "data"] | None = None,
    default: Callable[[Any], Any] | None = None,
    sort_keys: bool = False,
    protocol: int | None = None,
) -> bytes: ...
def dump(
    value: Any,
    target: Target,
    /,
    *,
    limits: Limits | None = None,
    on_loss: OnLoss | None = None,
    objects: Literal["refuse", "wrap", "data"] | None = None,
    default: Callable[[Any], Any] | None = None,
    sort_keys: bool = False,
    protocol: int | None = None,
) -> None: ...
def Writer(
    target: Target,
    /,
    *,
    limits: Limits | None = None,
    on_loss: OnLoss | None = None,
    objects: Literal["refuse", "wrap", "data"] | None = None,
    default: Callable[[Any], Any] | None = None,
    sort_keys: bool = False,
    protocol: int | None = None,
) -> _Writer: ...
def load(
    source: Source,
    /,
    *,
    limits: Limits | None = None,
    on_loss: OnLoss | None = None,
    duplicate_keys: Literal["last", "refuse"] | None = None,
    object_hook: Callable[[dict[Any, Any]], Any] | None = None,
    object_pairs_hook: PairsHook | None = None,
    types: Types | None = None,
    strings: Literal["ascii", "utf8", "latin1", "bytes"] | None = None,
) -> Any: ...
def iter_load(
    source: Source | Data,
    /,
    *,
    limits: Limits | None = None,
    on_loss: OnLoss | None = None,
    duplicate_keys: Literal["last", "refuse"] | None = None,
    object_hook: Callable[[dict[Any, Any]], Any] | None = None,
    object_pairs_hook: PairsHook | None = None,
    types: Types | None = None,
    strings: Literal["ascii", "utf8", "latin1", "bytes"] | None = None,
) -> Documents: ...
