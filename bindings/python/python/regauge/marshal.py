"""Ruby's Marshal 4.8, read as inert data."""

from __future__ import annotations

from ._format import functions

__all__ = ["Writer", "dump", "dumps", "iter_load", "load", "loads"]

loads, dumps, load, dump, iter_load, Writer = functions("marshal")
