from collections.abc import Callable
from typing import Any, Literal

from ._regauge import Documents
from ._regauge import Writer as _Writer
from ._types import Data, Limits, OnLoss, PairsHook, Source, Target

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
    tag_hook: Callable[[int, Any], Any] | None = None,
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
    deterministic: bool = False,
    indefinite: bool = False,
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
    deterministic: bool = False,
    indefinite: bool = False,
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
    deterministic: bool = False,
    indefinite: bool = False,
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
    tag_hook: Callable[[int, Any], Any] | None = None,
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
    tag_hook: Callable[[int, Any], Any] | None = None,
) -> Documents: ...
