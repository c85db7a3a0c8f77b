from collections.abc import Callable
from typing import Any, Literal, overload

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
    numbers: Literal["double", "exact"] | None = None,
    tag_hook: Callable[[str, Any], Any] | None = None,
    schema: Literal["core", "json", "failsafe", "1.1"] | None = None,
    types: Types | None = None,
) -> Any: ...
@overload
def dumps(
    value: Any,
    /,
    *,
    limits: Limits | None = None,
    on_loss: OnLoss | None = None,
    objects: Literal["refuse", "wrap", "data"] | None = None,
    default: Callable[[Any], Any] | None = None,
    sort_keys: bool = False,
    indent: int | None = None,
    indent_sequences: bool = False,
    document_start: bool = False,
    text: Literal[False] = False,
) -> bytes: ...
@overload
def dumps(
    value: Any,
    /,
    *,
    limits: Limits | None = None,
    on_loss: OnLoss | None = None,
    objects: Literal["refuse", "wrap", "data"] | None = None,
    default: Callable[[Any], Any] | None = None,
    sort_keys: bool = False,
    indent: int | None = None,
    indent_sequences: bool = False,
    document_start: bool = False,
    text: Literal[True],
) -> str: ...
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
    indent: int | None = None,
    indent_sequences: bool = False,
    document_start: bool = False,
    text: bool = False,
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
    indent: int | None = None,
    indent_sequences: bool = False,
    document_start: bool = False,
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
    numbers: Literal["double", "exact"] | None = None,
    tag_hook: Callable[[str, Any], Any] | None = None,
    schema: Literal["core", "json", "failsafe", "1.1"] | None = None,
    types: Types | None = None,
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
    numbers: Literal["double", "exact"] | None = None,
    tag_hook: Callable[[str, Any], Any] | None = None,
    schema: Literal["core", "json", "failsafe", "1.1"] | None = None,
    types: Types | None = None,
) -> Documents: ...
