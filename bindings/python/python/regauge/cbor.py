"""CBOR (RFC 8949)."""

from __future__ import annotations

from ._format import functions

__all__ = ["Writer", "dump", "dumps", "iter_load", "load", "loads"]

loads, dumps, load, dump, iter_load, Writer = functions("cbor")
