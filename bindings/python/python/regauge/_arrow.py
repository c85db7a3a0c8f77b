"""Documents as Arrow record batches."""

from __future__ import annotations

import os
from typing import Any, Literal

from . import _regauge


def to_arrow(
    source: str | os.PathLike[str] | bytes,
    /,
    format: str | None = None,
    *,
    batch_size: int = 65_536,
    schema: Any = None,
    sample: int = 1_000,
    on_loss: Literal["refuse", "wrap", "approximate"] = "refuse",
    **options: Any,
) -> _regauge.ArrowStream:
    """Returns the documents of a file as record batches, for any library that speaks Arrow.

    The result implements the Arrow PyCapsule interface: pyarrow.RecordBatchReader.from_stream,
    polars.DataFrame and duckdb.from_arrow take it without a copy, and each use reads the file from
    the beginning. No Python objects are created, the GIL is not held, and memory is bounded by
    batch_size rows or 64 MiB.

    A map becomes a row; the elements of a top-level array become rows; anything else is the column
    "value". MARC records have the columns of regauge.spark: leader, and fields with tag, ind1,
    ind2, data and subfields.

    source -- a path, or bytes
    schema -- a pyarrow.Schema, or anything else with __arrow_c_schema__; inferred from the first
        `sample` documents by default
    on_loss -- what happens to a value that its column cannot hold: "refuse" (the default) raises an
        error that names path and record, "wrap" turns columns of mixed types into text (text is
        kept, other values become their JSON), "approximate" also does that, and otherwise writes
        the nearest number, or a null, and counts it in `.losses`
    limits, numbers, charset, bad … -- as in loads and iter_load

    >>> import regauge
    >>> regauge.to_arrow(b'{"a": 1, "b": ["x"]}\\n{"a": null, "b": []}\\n', "ndjson")
    ArrowStream(a, b)
    """
    if format is None:
        if isinstance(source, (str, os.PathLike)):
            format = _regauge.detect_path(os.fspath(source))
        else:
            format = _regauge.detect(source)
        if format is None:
            names = ", ".join(_regauge.FORMATS)
            raise ValueError(f"found no format in the name or the first bytes; pass one of {names}")
    return _regauge.to_arrow(source, format, batch_size, schema, sample, on_loss, options or None)
